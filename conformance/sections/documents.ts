/** Bodies and answers of TensorFlow Serving's REST API, as the local model server reads and writes them. */

import {
  type JsonFormat,
  parseBody,
  parseBodyWithFloats,
  parsedFor,
  predictionsJson,
  readExamples,
  readInputs,
  signatureNameOf,
} from '@sagemaker-tfs/local-model-server/parts';
import { DTYPES, type DType, type Signature, type TensorMap } from '@sagemaker-tfs/tensors';
import type { Example, Feature, Input } from '@sagemaker-tfs/tensors/protos';
import { type Case, joined, nearTensor, type Section, tensorOf } from './case.ts';

type Refusals = readonly (readonly string[])[];

/** What a request or an answer becomes, or the message that it is refused with. */
function differsAsDocument(given: Case): string | undefined {
  const { refusals } = given as { readonly refusals?: Refusals };
  let difference: string | undefined;
  try {
    difference = COMPARED[given.kind as keyof typeof COMPARED](given);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (!refusals) return `refused: ${message}`;
    return refusals.some((parts) => holds(message, parts)) ? undefined : `message: ${message}`;
  }
  return refusals ? 'taken' : difference;
}

/** All parts, in order. */
function holds(message: string, parts: readonly string[]): boolean {
  let at = 0;
  return parts.every((part) => {
    const found = message.indexOf(part, at);
    at = found + part.length;
    return found >= 0;
  });
}

const COMPARED = {
  predict: differsAsPredict,
  examples: differsAsExamples,
  answer: differsAsAnswer,
};

function differsAsPredict({ signature, body, form, tensors }: Case): string | undefined {
  const known = signatureOf(signature as Readonly<Record<string, DType>>);
  const bytes = Buffer.from(body as string, 'base64');
  const parsed = parseBody(bytes);
  signatureNameOf(parsed);
  const read = readInputs(parsedFor(known, bytes, parsed), known);
  if (tensors === undefined) return undefined;
  if (read.format !== form) return `${read.format} format`;
  const expected = Object.entries(tensors as Readonly<Record<string, Case>>);
  if (Object.keys(read.inputs).length !== expected.length) return 'other inputs';
  return expected.find(([name, tensor]) => !nearTensor(read.inputs[name], tensor, 0))?.[0];
}

function signatureOf(dtypes: Readonly<Record<string, DType>>): Signature {
  const inputs = Object.entries(dtypes).map(([name, dtype]) => [
    name,
    { tensorName: `${name}:0`, dtype, dtypeEnum: DTYPES[dtype].enumValue, shape: undefined },
  ]);
  return {
    key: 'serving_default',
    methodName: '',
    inputs: Object.fromEntries(inputs),
    outputs: {},
  };
}

function differsAsExamples({ body, context, examples }: Case): string | undefined {
  const parsed = parseBodyWithFloats(Buffer.from(body as string, 'base64'));
  signatureNameOf(parsed);
  const { kind }: Input = readExamples(parsed);
  if (kind.case === undefined) return 'nothing read';
  const withContext = kind.case === 'exampleListWithContext' ? kind.value.context : undefined;
  const read = {
    context: withContext && featuresOf(withContext),
    examples: kind.value.examples.map(featuresOf),
  };
  const expected = { context: context ?? undefined, examples };
  return sorted(read) === sorted(expected) ? undefined : `${sorted(read)} for ${sorted(expected)}`;
}

function featuresOf(example: Example): Readonly<Record<string, unknown>> {
  const features = Object.entries(example.features?.feature ?? {});
  return Object.fromEntries(features.map(([name, feature]) => [name, featureOf(feature)]));
}

/** The kind and the values, bytes and floats as base64, as the oracle writes them. */
function featureOf({ kind }: Feature): readonly [string | null, readonly string[]] {
  switch (kind.case) {
    case 'bytesList':
      return ['bytes', kind.value.value.map((value) => Buffer.from(value).toString('base64'))];
    case 'floatList':
      return [
        'float',
        kind.value.value.map((value) =>
          Buffer.from(Float32Array.of(value).buffer).toString('base64'),
        ),
      ];
    case 'int64List':
      return ['int64', kind.value.value.map(String)];
    default:
      return [null, []];
  }
}

/** JSON with the names of its objects in order. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_, part) =>
    part && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

function differsAsAnswer({ outputs, form, answer }: Case): string | undefined {
  const tensors = Object.entries(outputs as Readonly<Record<string, Case>>).map(
    ([name, tensor]) => [name, tensorOf(tensor)] as const,
  );
  const chunks = predictionsJson(Object.fromEntries(tensors) as TensorMap, form as JsonFormat);
  const text = Buffer.from(
    joined([...chunks].map((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk))),
  ).toString();
  const marked = text.replace(/-?(?:NaN|Infinity)/g, (word) => `{"float": "${WORDS[word]}"}`);
  const [key, value] = Object.entries(JSON.parse(marked) as object)[0] ?? [];
  if (key !== (form === 'row' ? 'predictions' : 'outputs')) return `under ${key}`;
  return sorted(value) === sorted(answer) ? undefined : `${sorted(value)} for ${sorted(answer)}`;
}

/** Python's words for infinities and NaN. */
const WORDS: Readonly<Record<string, string>> = {
  NaN: 'nan',
  Infinity: 'inf',
  '-Infinity': '-inf',
};

const RULES = "TensorFlow Serving's rules (util/json_tensor.cc), written anew";

/** REST bodies and answers. */
export const documents: readonly Section[] = [
  {
    file: 'rest_published',
    title: "REST requests and answers: the cases of TensorFlow Serving's published tests",
    reference: 'what those tests expect',
    tolerance: 'every bit, or the expected part of the message',
    differs: differsAsDocument,
  },
  {
    file: 'rest_generated',
    title:
      'REST requests over the documented grammar, generated: rows, columns, examples, broken in one place or two',
    reference: RULES,
    tolerance: 'every bit, or the message but for the dump of the value',
    differs: differsAsDocument,
  },
  {
    file: 'json_values',
    title: 'Values in REST requests, every dtype, in rows and columns',
    reference: RULES,
    tolerance: 'every bit, or the message but for the dump of the value',
    differs: differsAsDocument,
  },
];
