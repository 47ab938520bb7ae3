/** The `examples` form: feature dictionaries, which become tf.Examples. */
import {
  isBase64Object,
  type Tensor,
  type TensorMap,
  tensorFromJson,
} from '@sagemaker-tfs/tensors';
import type { DecodeLimits } from '../decode-limits.ts';
import { ServingError } from '../errors.ts';
import type { DecodeContext } from './codec.ts';
import { featuresToTensors } from './features.ts';
import { reading } from './input-error.ts';
import { onlyStringInput, stringsToTensors } from './records.ts';
import { encodeExample } from './tf-example-writer.ts';

/** Stands for a number written with a fraction or an exponent: see {@link markFloats}. */
const FLOAT = '\u0000float';
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;

/**
 * Rewrites JSON so that `1.0` stays a float after parsing: a feature's type follows from how its numbers
 * are written, which JSON.parse forgets.
 */
export function markFloats(json: string): string {
  const pieces: string[] = [];
  let copied = 0;
  for (let at = 0; at < json.length; ) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(json, at);
    else if (code === MINUS || isDigit(code)) {
      const end = numberEnd(json, at + 1);
      const token = json.slice(at, end);
      if (/[.eE]/.test(token)) {
        pieces.push(json.slice(copied, at), `{"\\u0000float":${token}}`);
        copied = end;
      }
      at = end;
    } else at += 1;
  }
  pieces.push(json.slice(copied));
  return pieces.join('');
}

function stringEnd(json: string, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code === BACKSLASH) at += 1;
  }
  return json.length;
}

/** Of digits and what else a number is written with; the text is JSON. */
function numberEnd(json: string, start: number): number {
  let at = start;
  for (; at < json.length; at++) {
    const code = json.charCodeAt(at);
    const isInNumber = isDigit(code) || code === MINUS || '+.eE'.includes(json[at] as string);
    if (!isInNumber) break;
  }
  return at;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/**
 * Serialized tf.Examples for a signature whose only input is a DT_STRING (all that classify, regress and
 * `parse_example` graphs take); else their features as inputs.
 * @param examples the list, parsed from text that went through {@link markFloats}
 * @param shared features that all examples have (`context`)
 * @throws ServingError BAD_INPUT naming the feature
 */
export async function examplesToTensors(
  examples: unknown,
  shared: unknown,
  context: DecodeContext,
): Promise<TensorMap> {
  if (!Array.isArray(examples) || examples.length === 0) {
    throw new ServingError('BAD_INPUT', '"examples" must be a list of feature dictionaries');
  }
  const common = shared === undefined ? {} : featuresOf(shared, 'context', context.limits);
  const records = examples.map((example, index) => {
    return { ...common, ...featuresOf(example, `examples[${index}]`, context.limits) };
  });
  const text = onlyStringInput(context);
  if (text === undefined) return featuresToTensors(records, context);
  return stringsToTensors(records.map(encodeExample), text, context);
}

function featuresOf(example: unknown, where: string, limits: DecodeLimits): TensorMap {
  if (typeof example !== 'object' || example === null || Array.isArray(example)) {
    throw new ServingError('BAD_INPUT', `${where} must be an object of features`);
  }
  const entries = Object.entries(example).map(
    ([name, value]) => [name, vectorOf(value, `${where}.${name}`, limits)] as const,
  );
  return Object.fromEntries(entries);
}

/** Strings and base64 are bytes, numbers with a fraction or exponent floats, other numbers and booleans int64. */
function vectorOf(value: unknown, where: string, { maxStrings }: DecodeLimits): Tensor {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const isBytes = list.some((item) => typeof item === 'string' || isBase64Object(item));
  if (isBytes) return reading(() => tensorFromJson('string', list, where, maxStrings));
  const isFloat = list.some((item) => isFloatNumber(item));
  const numbers = list.map((item) => (typeof item === 'boolean' ? Number(item) : unmarked(item)));
  return reading(() => tensorFromJson(isFloat ? 'float32' : 'int64', numbers, where));
}

function isFloatNumber(item: unknown): boolean {
  if (typeof item === 'number') return !Number.isInteger(item);
  return unmarked(item) !== item;
}

function unmarked(item: unknown): unknown {
  const isMarked = typeof item === 'object' && item !== null && Object.hasOwn(item, FLOAT);
  return isMarked ? (item as Record<string, unknown>)[FLOAT] : item;
}
