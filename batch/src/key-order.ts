/** The order of keys in listings, and of their outputs. */
import { outputKey } from './outputs.ts';

/** Compares as S3 sorts: by the bytes of UTF-8, which is the order of code points. */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  let at = 0;
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  if (at === length) return a.length - b.length;
  return rank(a.charCodeAt(at)) - rank(b.charCodeAt(at));
}

/** UTF-16 puts surrogates, which stand for the highest code points, below U+E000 to U+FFFF. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x1_0000 : unit;
}

/**
 * A text whose UTF-16 order is the order of S3, that of code points: surrogates, which stand for the highest
 * ones, change places with U+E000 to U+FFFF.
 */
export function toSortable(key: string): string {
  return key.replace(HIGH_UNITS, (units) => shifted(units, (unit) => unit >= 0xe000));
}

/** The key again. */
export function fromSortable(text: string): string {
  return text.replace(HIGH_UNITS, (units) => shifted(units, (unit) => unit >= 0xf800, true));
}

const HIGH_UNITS = /[\ud800-\uffff]+/g;

function shifted(units: string, isUpper: (unit: number) => boolean, back = false): string {
  let text = '';
  for (let at = 0; at < units.length; at++) {
    const unit = units.charCodeAt(at);
    const by = back ? (isUpper(unit) ? -0x2000 : 0x800) : isUpper(unit) ? -0x800 : 0x2000;
    text += String.fromCharCode(unit + by);
  }
  return text;
}

/** Compares keys as their outputs are sorted: `a-1` comes before `a`, because `a-1.out` does before `a.out`. */
export function compareOutputs(a: string, b: string): number {
  return compareKeys(outputKey(a), outputKey(b));
}

/**
 * Sorted keys in the order of their outputs. Only a key that is the start of the next ones can have to wait for
 * them, so memory holds at most one key for each character of the longest.
 */
export async function* inOutputOrder(keys: AsyncIterable<string>): AsyncGenerator<string> {
  const waiting: string[] = [];
  for await (const key of keys) {
    for (let top = waiting.at(-1); top !== undefined; top = waiting.at(-1)) {
      if (compareOutputs(top, key) > 0) break;
      waiting.pop();
      yield top;
    }
    waiting.push(key);
  }
  while (waiting.length > 0) yield waiting.pop() as string;
}

/** One key of the inputs, of the outputs, or of both. */
export type Match<T> =
  | { readonly kind: 'missing'; readonly key: string }
  | { readonly kind: 'done' | 'extra'; readonly key: string; readonly output: T };

/** Merges inputs and outputs, both in the order of the outputs, in constant memory. */
export async function* matchOutputs<T extends { readonly key: string }>(
  inputs: AsyncIterable<string>,
  outputs: AsyncIterable<T>,
): AsyncGenerator<Match<T>> {
  const left = inputs[Symbol.asyncIterator]();
  const right = outputs[Symbol.asyncIterator]();
  let [input, output] = [await left.next(), await right.next()];
  while (!input.done || !output.done) {
    const order = input.done ? 1 : output.done ? -1 : compareOutputs(input.value, output.value.key);
    if (order < 0) {
      yield { kind: 'missing', key: input.value };
      input = await left.next();
    } else {
      const { key } = output.value;
      yield { kind: order === 0 ? 'done' : 'extra', key, output: output.value };
      if (order === 0) input = await left.next();
      output = await right.next();
    }
  }
}
