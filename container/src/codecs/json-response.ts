/** Answers in JSON, in the form of TensorFlow Serving's REST API. */
import { type Tensor, type TensorMap, writeTensorJson } from '@sagemaker-tfs/tensors';
import type { EncodeContext, ResponseCodec } from './codec.ts';
import { orderedOutputs } from './ordered-outputs.ts';
import { errorRow, goodRows, instanceCount, recordRows, rowReader } from './rows.ts';
import { type Pieces, textBody } from './text-body.ts';

/**
 * `{"predictions": [...]}` for a request in row form: an element for each instance, the value itself where there
 * is one output, else an object by name. `{"outputs": ...}` for columnar form, and where the outputs have no
 * common first dimension, for which TensorFlow Serving has an error only.
 */
export const jsonResponse: ResponseCodec = {
  mediaTypes: ['application/json'],
  async encode(outputs, context) {
    return {
      contentType: 'application/json',
      body: textBody(outputs, answer(outputs, context)),
    };
  },
};

/** The same on one line with its end: bodies joined by batch transform stay one document a line. */
export const jsonLinesResponse: ResponseCodec = {
  mediaTypes: ['application/jsonlines', 'application/jsons'],
  async encode(outputs, context) {
    const line = function* (): Pieces {
      yield* answer(outputs, context);
      yield '\n';
    };
    return { contentType: 'application/jsonlines', body: textBody(outputs, line()) };
  },
};

function* answer(outputs: TensorMap, context: EncodeContext): Pieces {
  const key = context.form === 'row' ? 'predictions' : 'outputs';
  if (context.badRecords) {
    yield* besideErrors(outputs, context, context.badRecords);
    return;
  }
  if (context.instances) {
    yield `{"${key}":${JSON.stringify(context.instances)}}`;
    return;
  }
  const ordered = orderedOutputs(outputs, context);
  const count = instanceCount(ordered);
  if (context.form === 'row' && typeof count === 'number') {
    yield '{"predictions":';
    yield* predictions(ordered, count);
  } else {
    yield '{"outputs":';
    yield* columns(ordered);
  }
  yield '}';
}

/** A row for each record: what the model made of it, or what was wrong with it. */
function* besideErrors(
  outputs: TensorMap,
  context: EncodeContext,
  badRecords: ReadonlyMap<number, string>,
): Pieces {
  const { instances } = context;
  const entries = Object.entries(orderedOutputs(outputs, context));
  const readers = entries.map(([name, tensor]) => ({ name, read: rowReader(tensor) }));
  const count = instances?.length ?? goodRows(outputs);
  let comma = '';
  yield '{"predictions":[';
  for (const row of recordRows(count, badRecords)) {
    yield comma;
    comma = ',';
    if (typeof row === 'string') yield errorRow(row);
    else if (instances) yield JSON.stringify(instances[row]);
    else yield* rowJson(readers, row);
  }
  yield ']}';
}

function* rowJson(
  readers: readonly { readonly name: string; readonly read: (index: number) => Tensor }[],
  row: number,
): Pieces {
  const [first, ...others] = readers;
  if (first && others.length === 0) {
    yield* writeTensorJson(first.read(row), { name: first.name });
    return;
  }
  for (const [place, { name, read }] of readers.entries()) {
    yield `${place === 0 ? '{' : ','}${JSON.stringify(name)}:`;
    yield* writeTensorJson(read(row), { name });
  }
  yield '}';
}

function* predictions(outputs: TensorMap, count: number): Pieces {
  const entries = Object.entries(outputs);
  const [first] = entries;
  if (first && entries.length === 1) {
    yield* writeTensorJson(first[1], { name: first[0] });
    return;
  }
  const readers = entries.map(([name, tensor]) => ({ name, row: rowReader(tensor) }));
  yield '[';
  for (let index = 0; index < count; index++) {
    yield index === 0 ? '{' : ',{';
    for (const [place, { name, row }] of readers.entries()) {
      yield `${place === 0 ? '' : ','}${JSON.stringify(name)}:`;
      yield* writeTensorJson(row(index), { name });
    }
    yield '}';
  }
  yield ']';
}

function* columns(outputs: TensorMap): Pieces {
  const entries = Object.entries(outputs);
  const [first] = entries;
  if (first && entries.length === 1) {
    yield* writeTensorJson(first[1], { name: first[0] });
    return;
  }
  yield '{';
  for (const [place, [name, tensor]] of entries.entries()) {
    yield `${place === 0 ? '' : ','}${JSON.stringify(name)}:`;
    yield* writeTensorJson(tensor, { name });
  }
  yield '}';
}
