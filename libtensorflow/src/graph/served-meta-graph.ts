/** The part of a `saved_model.pb` that is served. */
import { LENGTH_DELIMITED, type Span, type WireFile } from './wire-file.ts';

/** The MetaGraph tagged `serve`, else the first. SavedModel: meta_graphs = 2. @throws DamagedFile */
export function servedMetaGraph(file: WireFile): Span | undefined {
  const metaGraphs = nested(file, { start: 0, end: file.size }, 2);
  return metaGraphs.find((one) => isServed(file, one)) ?? metaGraphs[0];
}

/** The messages, texts and bytes of one field. @throws DamagedFile */
export function nested(file: WireFile, span: Span, number: number) {
  return [...file.fields(span)].filter(
    (field) => field.number === number && field.wireType === LENGTH_DELIMITED,
  );
}

/** MetaGraphDef: meta_info_def = 1; MetaInfoDef: tags = 4. */
function isServed(file: WireFile, metaGraph: Span): boolean {
  const [info] = nested(file, metaGraph, 1);
  return info ? nested(file, info, 4).some((tag) => file.text(tag) === 'serve') : false;
}
