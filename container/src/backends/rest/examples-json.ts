/** tf.Examples to the JSON of TensorFlow Serving's Classify and Regress API, and its results back. */
import { parseJson, writeTensorJson } from '@sagemaker-tfs/tensors';
import { decodeExample, type ExampleLimits } from '../../codecs/tf-example.ts';
import type { ExamplesReply, ExamplesRequest } from '../backend.ts';

/** `{"signature_name", "examples": [{...}]}` */
export function examplesRequestBody(
  { signature, examples }: ExamplesRequest,
  limits: ExampleLimits,
): Uint8Array[] {
  const objects = examples.map((example) => exampleJson(example, limits));
  const head = `{"signature_name":${JSON.stringify(signature)},"examples":[`;
  return [Buffer.from(`${head}${objects.join(',')}]}`)];
}

/** Reads `{"results": [...]}`: a list of [label, score] for each example, or a number. */
export function readExamplesReply(
  body: Uint8Array,
  method: ExamplesRequest['method'],
): ExamplesReply {
  const { results } = parseJson(body) as { results: unknown };
  if (method === 'regress') return { regressions: results as number[] };
  const classifications = (results as [string, number][][]).map((classes) =>
    classes.map(([label, score]) => ({ label, score })),
  );
  return { classifications };
}

function exampleJson(bytes: Uint8Array, limits: ExampleLimits): string {
  const features = decodeExample(bytes, limits) ?? {};
  const entries = Object.entries(features).map(([name, tensor]) => {
    const text = Buffer.concat([...writeTensorJson(tensor)]).toString('utf8');
    return `${JSON.stringify(name)}:${text}`;
  });
  return `{${entries.join(',')}}`;
}
