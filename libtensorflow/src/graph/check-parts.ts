/**
 * What a `saved_model.pb` declares is counted before objects are made of it: two bytes are a node, a signature or a whole
 * graph. The walk stops at the first number that is too large, so it costs no more than a model of that size does.
 */
import { pauseAfter, type Steps } from '@sagemaker-tfs/tensors/steps';
import { DamagedFile } from '../damaged-file.ts';
import { LENGTH_DELIMITED, type Span, type WireFile } from './wire-file.ts';

/** The most that is read: ten times what the largest models have. All are of the file as a whole. */
const SAVED_MODEL_LIMITS = {
  fields: 3_000_000,
  'graphs for tags': 100,
  'entries beside its graphs': 200_000,
  signatures: 10_000,
  'bytes of signatures': 4 * 2 ** 20,
  'asset files': 100_000,
  'bytes of tags and assets': 32 * 2 ** 20,
  nodes: 1_000_000,
  functions: 100_000,
  'Python objects and their members': 1_000_000,
} as const;

/** What is done with a message's fields, by their numbers; `any` before. */
type Parts = Readonly<Record<number, (field: Span) => Steps<void> | void>> & {
  readonly any?: () => void;
};

/** Fields that are passed in one go: about a millisecond. */
const FIELDS_A_TURN = 2_048;

/** @throws DamagedFile for more than `SAVED_MODEL_LIMITS` */
export function* checkParts(file: WireFile): Steps<void> {
  const counts = new Map<string, number>();
  const count = (what: keyof typeof SAVED_MODEL_LIMITS, more = 1) => {
    const sum = (counts.get(what) ?? 0) + more;
    counts.set(what, sum);
    const most = SAVED_MODEL_LIMITS[what];
    if (sum <= most) return;
    throw new DamagedFile(file.path, `it has more than ${most} ${what}, which no model has`);
  };
  const isTime = pauseAfter(FIELDS_A_TURN);
  function* each(span: Span, use: Parts) {
    for (const field of file.fields(span)) {
      count('fields');
      use.any?.();
      if (isTime(1)) yield;
      const inner = field.wireType === LENGTH_DELIMITED && use[field.number]?.(field);
      if (inner) yield* inner;
    }
  }
  const entry = () => count('entries beside its graphs');
  const node = () => count('nodes');
  const member = () => count('Python objects and their members');
  // SavedModel: meta_graphs = 2; the fields of a MetaGraphDef and of what is in it are in tensorflow/core/protobuf.
  yield* each({ start: 0, end: file.size }, { any: entry, 2: metaGraph });

  function metaGraph(span: Span): Steps<void> {
    count('graphs for tags');
    return each(span, {
      any: entry,
      1: ({ start, end }) => count('bytes of tags and assets', end - start),
      2: graph,
      5: ({ start, end }) => {
        count('signatures');
        count('bytes of signatures', end - start);
      },
      6: ({ start, end }) => {
        count('asset files');
        count('bytes of tags and assets', end - start);
      },
      7: objects,
    });
  }
  /** GraphDef: node = 1, library = 2; FunctionDefLibrary: function = 1; FunctionDef: node_def = 3. */
  function graph(span: Span): Steps<void> {
    return each(span, { 1: node, 2: (library) => each(library, { 1: graphFunction }) });
  }
  function graphFunction(span: Span): Steps<void> {
    count('functions');
    return each(span, { 3: node });
  }
  /** SavedObjectGraph: nodes = 1, concrete_functions = 2; SavedObject: children = 1, slot_variables = 3. */
  function objects(span: Span): Steps<void> {
    return each(span, { 1: object, 2: member });
  }
  function object(span: Span): Steps<void> {
    member();
    return each(span, { 1: member, 3: member });
  }
}
