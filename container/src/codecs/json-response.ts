/** Answers in JSON, in the form of TensorFlow Serving's REST API. */
import { type TensorMap, writeRowsJson, writeTensorJson } from '@sagemaker-tfs/tensors';
import type { EncodeContext, ResponseCodec } from './codec.ts';
import { orderedOutputs } from './ordered-outputs.ts';
import { errorRow, goodRows, instanceCount, recordRows } from './rows.ts';
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
  const { form, instances, badRecords } = context;
  if (badRecords) {
    const ordered = orderedOutputs(outputs, context);
    const records = recordRows(instances?.length ?? goodRows(outputs), badRecords);
    yield '{"predictions":';
    yield* rows(ordered, records, instances);
  } else if (instances) {
    yield `{"${form === 'row' ? 'predictions' : 'outputs'}":${JSON.stringify(instances)}`;
  } else {
    const ordered = orderedOutputs(outputs, context);
    const count = form === 'row' ? instanceCount(ordered) : undefined;
    const [first, ...others] = Object.entries(ordered);
    yield typeof count === 'number' ? '{"predictions":' : '{"outputs":';
    if (first && others.length === 0) yield* writeTensorJson(first[1], { name: first[0] });
    else if (typeof count === 'number') yield* rows(ordered, recordRows(count));
    else yield* columns(ordered);
  }
  yield '}';
}

/** A value for each record: what the model made of it, or what was wrong with it. */
function* rows(
  outputs: TensorMap,
  records: Iterable<number | string>,
  instances?: readonly unknown[],
): Pieces {
  const entries = Object.entries(outputs).map(([name, tensor]) => ({
    key: `${JSON.stringify(name)}:`,
    rows: writeRowsJson(tensor, { name }),
  }));
  yield '[';
  let comma = '';
  for (const record of records) {
    yield comma;
    comma = ',';
    if (typeof record === 'string') yield errorRow(record);
    else if (instances) yield JSON.stringify(instances[record]);
    else yield* row(entries);
  }
  yield ']';
}

/** The next row of each output. */
function* row(
  outputs: readonly { readonly key: string; readonly rows: Iterator<Pieces, void> }[],
): Pieces {
  const isAlone = outputs.length === 1;
  for (const [place, { key, rows }] of outputs.entries()) {
    if (!isAlone) yield `${place === 0 ? '{' : ','}${key}`;
    yield* rows.next().value ?? [];
  }
  if (!isAlone) yield '}';
}

function* columns(outputs: TensorMap): Pieces {
  yield '{';
  for (const [place, [name, tensor]] of Object.entries(outputs).entries()) {
    yield `${place === 0 ? '' : ','}${JSON.stringify(name)}:`;
    yield* writeTensorJson(tensor, { name });
  }
  yield '}';
}
