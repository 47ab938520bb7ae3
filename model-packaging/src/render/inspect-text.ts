/** An inspect report as text for people. */
import { misfitOf } from '@sagemaker-tfs/container/unbatchable';
import { DEFAULT_SIGNATURE } from '@sagemaker-tfs/tensors';
import type {
  InspectReport,
  MetaGraphReport,
  SignatureReport,
  TensorReport,
  VersionReport,
} from '../inspect/report.ts';
import { takesExamples } from '../samples/synthetic.ts';
import { visible, visibleIn } from '../visible.ts';
import { formatBytes } from './format.ts';
import { requestExamples } from './request-examples.ts';
import { defaultText, signatureText } from './signature-text.ts';
import { type Table, textTable } from './text-table.ts';

/** Variables shown before the rest is summed up. */
const SHOWN_VARIABLES = 40;

/** What to print besides names, sizes, inputs and outputs. Default of each: false. */
export interface InspectTextOptions {
  /** Request examples for each signature. */
  readonly examples?: boolean;
  /** A table of the variables. */
  readonly variables?: boolean;
  /** Operations, functions, assets, and the tensors behind inputs and outputs. */
  readonly ops?: boolean;
  /** Draws a table. Default: with borders. */
  readonly table?: Table;
  /** The lines that a line becomes where there is little room; those of request examples stay whole. Default: itself. */
  readonly wrap?: (line: string) => readonly string[];
}

type Layout = Required<Pick<InspectTextOptions, 'table' | 'wrap'>>;

const layoutOf = ({ table = textTable, wrap = (line) => [line] }: InspectTextOptions): Layout => ({
  table,
  wrap,
});

/**
 * The report as lines: a few for each version, and the sections asked for. Control characters in names are shown as JSON
 * escapes them.
 */
export function renderInspect(report: InspectReport, options: InspectTextOptions = {}): string {
  const sections = report.models.flatMap(({ name, versions }) =>
    versions.map((version) => renderVersion(name, version, options)),
  );
  return sections.join('\n\n');
}

function renderVersion(model: string, report: VersionReport, options: InspectTextOptions): string {
  const { metaGraphs } = report;
  const { version, bytes, variables, problems, compiledByXla } = visibleIn({
    ...report,
    metaGraphs: [],
  });
  const tensorflow = metaGraphs.find(({ tensorflowVersion }) => tensorflowVersion);
  const savedBy = visible(tensorflow?.tensorflowVersion ?? '');
  const facts = [
    `${visible(model)} v${version}`,
    formatBytes(bytes),
    ...(savedBy ? [`saved by TensorFlow ${savedBy}`] : []),
    `${variables.length} variable${variables.length === 1 ? '' : 's'}`,
  ];
  const { table, wrap } = layoutOf(options);
  return [
    ...[
      facts.join(' · '),
      ...problems.map((problem) => `  PROBLEM: ${problem}`),
      ...(compiledByXla.length > 0 ? [`  ${compiles(compiledByXla)}`] : []),
    ].flatMap(wrap),
    ...metaGraphs.flatMap((graph) => graphLines(graph, report, options)),
    ...(options.variables ? ['', ...variableLines({ ...report, variables }, table)] : []),
  ].join('\n');
}

/** Signatures of one graph; its tags where there are several graphs. */
function graphLines(
  graph: MetaGraphReport,
  { metaGraphs, exampleFeatures: features }: VersionReport,
  options: InspectTextOptions,
): string[] {
  const named = visibleIn(graph);
  const { tags, signatures, customOps } = named;
  const all = defaultFirst(signatures);
  const isServed = tags.length === 1 && tags[0] === 'serve';
  const shown = all.filter(([key, { methodName }]) => methodName || !key.startsWith('__'));
  const layout = layoutOf(options);
  const brief = [
    ...(metaGraphs.length > 1 ? [`  graph [${tags.join(', ')}]`] : []),
    ...shown.flatMap(([key, signature]) => signatureText(key, signature, shown.length)),
    ...(shown.length === 0 ? ['  no signature'] : []),
    ...(isServed ? notBatched(shown) : []),
    ...(customOps.length > 0 ? [`  custom operations: ${customOps.join(', ')}`] : []),
  ];
  return [
    ...brief.flatMap(layout.wrap),
    ...(options.examples && isServed
      ? defaultFirst(graph.signatures).map(([key, signature]) =>
          renderExamples(key, signature, features),
        )
      : []),
    ...(options.ops ? opsLines(named, layout) : []),
  ];
}

/** What requests mean unless they name a signature goes first: Keras exports have another that does the same. */
function defaultFirst(signatures: MetaGraphReport['signatures']): [string, SignatureReport][] {
  const all = Object.entries(signatures);
  const isDefault = ([key]: [string, SignatureReport]) => key === DEFAULT_SIGNATURE;
  return [...all.filter(isDefault), ...all.filter((entry) => !isDefault(entry))];
}

function opsLines(graph: MetaGraphReport, { table, wrap }: Layout): string[] {
  const { tags, producer, minConsumer, nodes, ops } = graph;
  const lines = [
    '',
    `Graph [${tags.join(', ')}]: producer ${producer}, min consumer ${minConsumer}, ${nodes} nodes`,
  ];
  for (const [key, signature] of Object.entries(graph.signatures)) {
    lines.push('', `Signature ${key} (${signature.methodName || 'no method name'})`);
    lines.push(tensorTable(signature, table));
  }
  for (const { name, options } of graph.functions) {
    const calls = options.map((option) =>
      [...option.arguments, ...option.namedArguments].join(', '),
    );
    lines.push('', `Function ${name}`, ...calls.map((call) => `  (${call})`));
  }
  if (graph.assets.length > 0) lines.push('', 'Assets', assetTable(graph, table));
  const names = Object.entries(ops).map(([name, count]) =>
    count > 1 ? `${name} x${count}` : name,
  );
  lines.push('', `Operations (${names.length}): ${names.join(', ')}`);
  return lines.flatMap((text) => text.split('\n')).flatMap(wrap);
}

function tensorTable({ inputs, outputs }: SignatureReport, table: Table): string {
  const rows = (kind: string, tensors: Readonly<Record<string, TensorReport>>) =>
    Object.entries(tensors).map(([name, tensor]) => [
      kind,
      name,
      tensor.dtype,
      tensor.shape ? `[${tensor.shape.join(', ')}]` : 'unknown rank',
      tensor.tensorName,
      tensor.default ? defaultText(tensor.default) : '',
    ]);
  const all = [...rows('input', inputs), ...rows('output', outputs)];
  const hasDefaults = all.some((row) => row[5] !== '');
  const head = ['kind', 'name', 'dtype', 'shape', 'tensor', ...(hasDefaults ? ['default'] : [])];
  return table(head, hasDefaults ? all : all.map((row) => row.slice(0, 5)));
}

function renderExamples(
  key: string,
  signature: SignatureReport,
  features: VersionReport['exampleFeatures'],
): string {
  if (key === '') return `\nNo request can name it: an empty name means '${DEFAULT_SIGNATURE}'.`;
  const { curl, typescript, python } = requestExamples(key, signature, features);
  const unknown =
    takesExamples(signature) && Object.keys(features).length === 0
      ? [
          '\nThe graph does not tell what it parses out of a tf.Example: the one below has no features.',
        ]
      : [];
  return [
    ...unknown,
    `\n$ ${curl}`,
    `\n// TypeScript\n${typescript}`,
    `\n# Python\n${python}`,
  ].join('\n');
}

function assetTable({ assets }: MetaGraphReport, table: Table): string {
  const rows = assets.map(({ filename, bytes }) => [
    filename,
    bytes === null ? 'missing' : formatBytes(bytes),
  ]);
  return table(['file', 'size'], rows);
}

function variableLines({ variables, variableBytes }: VersionReport, table: Table): string[] {
  if (variables.length === 0) return ['No variables'];
  const rows = variables
    .slice(0, SHOWN_VARIABLES)
    .map(({ name, dtype, shape, bytes }) => [
      name,
      dtype,
      `[${shape.join(', ')}]`,
      formatBytes(bytes),
    ]);
  const rest = variables.length - rows.length;
  return [
    `Variables (${variables.length}): ${formatBytes(variableBytes)}`,
    table(['name', 'dtype', 'shape', 'size'], rows),
    ...(rest > 0 ? [`... and ${rest} more (--json lists all)`] : []),
  ];
}

/** Which matters where requests are joined (`SAGEMAKER_TFS_ENABLE_BATCHING`), and a new export mends it. */
function notBatched(signatures: readonly (readonly [string, SignatureReport])[]): string[] {
  const named = signatures.flatMap(([key, signature]) => {
    const misfit = misfitOf(signature);
    return misfit === undefined ? [] : [`"${key}" (${misfit})`];
  });
  return named.length === 0 ? [] : [`  cannot be batched: ${named.join(', ')}`];
}

function compiles(keys: readonly string[]): string {
  const named = keys.map((key) => `"${key}"`).join(', ');
  return `${keys.length === 1 ? 'signature' : 'signatures'} ${named}: compiled by XLA (jit_compile=True). The first request of each input shape waits for it.`;
}
