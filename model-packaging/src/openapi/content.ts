/** Bodies of `/invocations` by media type. Those but JSON are bytes, which a schema can only name. */
import type { Preprocess } from '@sagemaker-tfs/manifest';
import { pictureInput } from '../inspect/picture-input.ts';
import { requestExamples } from '../render/request-examples.ts';
import { type DescribedSignature, onlyInput } from './described-signature.ts';
import type { Schema } from './value-schema.ts';

/** Bodies by media type, as OpenAPI has them. */
export type Content = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** What only a handler knows. */
export const ANY_CONTENT: Content = { '*/*': {} };

/** What the runtime reads without a handler. */
export function requestContent(
  signatures: readonly DescribedSignature[],
  json: Schema,
  preprocess: Preprocess | undefined,
): Content {
  const takesPictures = signatures.some(({ key, report }) => pictureInput(key, report, preprocess));
  const takesOne = signatures.some(({ report }) => onlyInput(report.inputs) !== undefined);
  const lines = text('A JSON document a line: an instance each.');
  const parquet = bytes(
    'A row an instance; columns named like the inputs. Only with SAGEMAKER_TFS_PARQUET=true.',
  );
  return {
    'application/json': { schema: json, ...jsonExamples(signatures) },
    'application/jsonlines': lines,
    'application/jsons': lines,
    'text/csv': text(
      'A line an instance. With `; header=present` the first line names the inputs.',
    ),
    'application/x-npz': bytes('Arrays named like the inputs.'),
    ...when(takesOne, { 'application/x-npy': bytes('The input, one array of NumPy.') }),
    'application/x-tfrecord': bytes('Records: tf.Examples, or pictures.'),
    'application/x-recordio': bytes('Records: tf.Examples, or pictures.'),
    'application/x-recordio-protobuf': bytes(
      "SageMaker's Records: features named like the inputs.",
    ),
    ...when(takesPictures, {
      'application/x-image': bytes('One JPEG, PNG, WebP, GIF or TIFF.'),
      'image/*': bytes('The same.'),
      'application/octet-stream': bytes('Pictures, each behind its length: 4 bytes, big-endian.'),
    }),
    'application/x-parquet': parquet,
    'application/vnd.apache.parquet': parquet,
  };
}

/** What the runtime answers without a handler: the header `Accept` chooses. */
export function answerContent(json: Schema): Content {
  const line = text('The JSON answer in one line.');
  return {
    'application/json': { schema: json },
    'application/jsonlines': line,
    'text/csv': text('A line an instance.'),
    'application/x-npy': bytes('One output, or several of one dtype, joined.'),
    'application/x-npz': bytes('Every output by name.'),
    'application/x-tfrecord': bytes('A tf.Example an instance.'),
    'application/x-parquet': bytes(
      'A row an instance, a column an output. Only with SAGEMAKER_TFS_PARQUET=true.',
    ),
  };
}

/** Requests that the runtime answers, where they are short enough to read. */
function jsonExamples(signatures: readonly DescribedSignature[]): object {
  const examples = signatures.flatMap(({ key, report, features }) => {
    const { contentType, body } = requestExamples(key, report, features);
    if (contentType !== 'application/json' || body === undefined) return [];
    return [[key, { value: JSON.parse(body) as unknown }] as const];
  });
  return examples.length > 0 ? { examples: Object.fromEntries(examples) } : {};
}

function when(condition: boolean, content: Content): Content {
  return condition ? content : {};
}

function text(description: string) {
  return { schema: { type: 'string', description } };
}

/** OpenAPI 3.1 has no type for bytes: the media type says it. */
function bytes(description: string) {
  return { schema: { description } };
}
