/** What a request asks for by `X-Amzn-SageMaker-Custom-Attributes`, and the header of its answer. */
import { versionOf } from '@sagemaker-tfs/manifest/version';
import {
  answerValue,
  CUSTOM_ATTRIBUTES_HEADER,
  listNames,
  MAX_CUSTOM_ATTRIBUTES,
  TRANSPORTS,
  type Transport,
} from '@sagemaker-tfs/tensors/custom-attributes';
import { ServingError } from '../errors.ts';

/** Whatever the header must not carry. */
const FOREIGN = /[^\t\x20-\x7e]/;

const METHODS = ['predict', 'classify', 'regress'] as const;

/** What TensorFlow Serving does with a request. */
export type Method = (typeof METHODS)[number];

/** What a request asks for by its custom attributes; all are optional. */
export interface RequestAttributes {
  readonly transport?: Transport;
  readonly modelName?: string;
  readonly modelVersion?: string;
  readonly modelLabel?: string;
  readonly method?: Method;
  readonly signature?: string;
  readonly outputs?: readonly string[];
  /** The answer's custom attributes tell where the time went. */
  readonly timings: boolean;
}

const NONE: RequestAttributes = { timings: false };

/**
 * Reads the header. Names that are not ours are left to handlers.
 * @throws ServingError BAD_CUSTOM_ATTRIBUTE for a value that makes no sense
 */
export function parseRequestAttributes(header: string): RequestAttributes {
  if (header === '') return NONE;
  checkHeader(header);
  const values = new Map(header.split(',').map((pair) => keyAndValue(pair)));
  const modelVersion = values.get('tfs-model-version');
  const version = versionOf(modelVersion ?? '');
  if (modelVersion !== undefined && version === undefined) {
    throw bad('tfs-model-version', modelVersion, 'it must be a whole number');
  }
  const modelLabel = values.get('tfs-model-label') || undefined;
  if (version !== undefined && modelLabel !== undefined) {
    throw bad('tfs-model-label', modelLabel, 'name a version or a label of it, not both');
  }
  // TensorFlow refuses a call that asks for an output twice.
  const outputs = listNames(values.get('tfs-outputs') ?? '');
  return {
    ...optional('transport', choice(values, 'tfs-transport', TRANSPORTS)),
    ...optional('modelName', values.get('tfs-model-name') || undefined),
    ...optional('modelVersion', version?.toString()),
    ...optional('modelLabel', modelLabel),
    ...optional('method', choice(values, 'tfs-method', METHODS)),
    ...optional('signature', values.get('tfs-signature') || undefined),
    ...optional('outputs', outputs.length > 0 ? outputs : undefined),
    timings: ['1', 'true'].includes(values.get('tfs-timings') ?? ''),
  };
}

/** The caller's span, `traceparent` and `tracestate`, of a header of any form. */
export function traceAttributes(header: string) {
  const pairs = header.split(',').map((pair) => keyAndValue(pair));
  const named = (wanted: string) => pairs.find(([name]) => name === wanted)?.[1] || undefined;
  return { traceparent: named('traceparent'), tracestate: named('tracestate') };
}

/** @throws ServingError BAD_CUSTOM_ATTRIBUTE for a header that SageMaker itself would not take */
function checkHeader(header: string): void {
  const problem =
    header.length > MAX_CUSTOM_ATTRIBUTES
      ? `has ${header.length} characters, the most is ${MAX_CUSTOM_ATTRIBUTES}`
      : FOREIGN.test(header) && 'takes printable ASCII only: percent-encode everything else';
  if (!problem) return;
  throw new ServingError('BAD_CUSTOM_ATTRIBUTE', `${CUSTOM_ATTRIBUTES_HEADER} ${problem}`);
}

/**
 * Writes the header. What is undefined is left out, and what does not fit into SageMaker's bound, the last
 * first.
 */
export function formatAttributes(
  attributes: Iterable<readonly [name: string, value: string | undefined]>,
): string {
  let header = '';
  for (const [name, value] of attributes) {
    if (value === undefined) continue;
    const pair = `${header === '' ? '' : ','}${name}=${answerValue(value)}`;
    if (header.length + pair.length <= MAX_CUSTOM_ATTRIBUTES) header += pair;
  }
  return header;
}

function keyAndValue(pair: string): [string, string] {
  const [name = '', ...rest] = pair.split('=');
  return [name.trim(), decoded(rest.join('=').trim())];
}

/** Percent-encoding as the answer's header has it: the header carries ASCII only, names may be any text. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    // A percent sign that stands for itself.
    return value.replace(/%2C/gi, ',');
  }
}

function choice<T extends string>(
  values: ReadonlyMap<string, string>,
  name: string,
  choices: readonly T[],
): T | undefined {
  const value = values.get(name);
  if (!value) return undefined;
  const known = choices.find((candidate) => candidate === value);
  if (!known) throw bad(name, value, `it must be one of ${choices.join(', ')}`);
  return known;
}

function bad(name: string, value: string, advice: string): ServingError {
  return new ServingError(
    'BAD_CUSTOM_ATTRIBUTE',
    `the custom attribute ${name} is "${value}": ${advice}`,
  );
}

function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });
}
