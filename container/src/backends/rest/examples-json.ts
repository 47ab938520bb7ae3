/** tf.Examples to the JSON of TensorFlow Serving's Classify and Regress API, and its results back. */
import { parseJson, type Tensor, type TensorMap, writeTensorJson } from '@sagemaker-tfs/tensors';
import { decodeExample, type ExampleLimits, NO_LIST } from '../../codecs/tf-example.ts';
import { eachInTurns } from '../../waiting/in-turns.ts';
import type { ExamplesReply, ExamplesRequest } from '../backend.ts';
import { utf8Json } from './utf8-reply.ts';

/** To decode a byte and write it as JSON costs as much as copying this number of bytes. */
const DECODE_COST = 16;

/**
 * `{"signature_name", "examples": [{...}]}`
 * @returns undefined if a feature has an empty list of floats, integers or bytes: JSON's `[]` is a feature without a list
 */
export async function examplesRequestBody(
  { signature, examples, signal }: ExamplesRequest,
  limits: ExampleLimits,
): Promise<Uint8Array[] | undefined> {
  const objects: string[] = [];
  let hasEmptyList = false;
  const add = (example: Uint8Array) => {
    if (hasEmptyList) return;
    const features = decodeExample(example, limits) ?? {};
    hasEmptyList = Object.values(features).some(isEmptyList);
    objects.push(exampleJson(features));
  };
  await eachInTurns(examples, add, {
    signal,
    bytesOf: ({ byteLength }) => byteLength * DECODE_COST,
  });
  if (hasEmptyList) return undefined;
  const head = `{"signature_name":${JSON.stringify(signature)},"examples":[`;
  return [Buffer.from(`${head}${objects.join(',')}]}`)];
}

/** Reads `{"results": [...]}`: a list of [label, score] for each example, or a number. */
export function readExamplesReply(
  body: Uint8Array,
  method: ExamplesRequest['method'],
): ExamplesReply {
  const { results } = parseJson(utf8Json(body)) as { results: unknown };
  if (method === 'regress') return { regressions: results as number[] };
  const classifications = (results as [string | Base64, number][][]).map((classes) =>
    classes.map(([label, score]) => ({ label: bytesOf(label), score })),
  );
  return { classifications };
}

interface Base64 {
  readonly b64: string;
}

function bytesOf(label: string | Base64): Uint8Array {
  return typeof label === 'string' ? Buffer.from(label) : Buffer.from(label.b64, 'base64');
}

function isEmptyList(feature: Tensor): boolean {
  return feature.shape[0] === 0 && feature !== NO_LIST;
}

function exampleJson(features: TensorMap): string {
  const entries = Object.entries(features).map(([name, tensor]) => {
    const text = Buffer.concat([...writeTensorJson(tensor)]).toString('utf8');
    return `${JSON.stringify(name)}:${text}`;
  });
  return `{${entries.join(',')}}`;
}
