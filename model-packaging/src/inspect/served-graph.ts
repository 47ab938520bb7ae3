/** What of a version's report is served. */
import type { MetaGraphReport, SignatureReport, VersionReport } from './report.ts';

/** The graph that is tagged for serving, else the first. */
export function servedGraph(version: VersionReport | undefined): MetaGraphReport | undefined {
  const graphs = version?.metaGraphs ?? [];
  return graphs.find(({ tags }) => tags.includes('serve')) ?? graphs[0];
}

/** Its signatures by key, without those that only TensorFlow calls, such as `__saved_model_init_op`. */
export function callableSignatures(
  graph: MetaGraphReport | undefined,
): readonly (readonly [key: string, report: SignatureReport])[] {
  return Object.entries(graph?.signatures ?? {}).filter(([key]) => !key.startsWith('__'));
}
