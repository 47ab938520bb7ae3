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

/** Something that has a key: an object of a listing. */
interface Keyed {
  readonly key: string;
}

/**
 * Inputs sorted by their keys, in the order of their outputs. Only a key that is the start of the next ones can have to
 * wait for them, so memory holds at most one input for each character of the longest.
 */
export async function* inOutputOrder<I extends Keyed>(inputs: AsyncIterable<I>): AsyncGenerator<I> {
  const waiting: I[] = [];
  for await (const input of inputs) {
    for (let top = waiting.at(-1); top !== undefined; top = waiting.at(-1)) {
      if (compareOutputs(top.key, input.key) > 0) break;
      waiting.pop();
      yield top;
    }
    waiting.push(input);
  }
  while (waiting.length > 0) yield waiting.pop() as I;
}

/** One key of the inputs, of the outputs, or of both. */
export type Match<I, O> =
  | { readonly kind: 'missing'; readonly key: string }
  | { readonly kind: 'extra'; readonly key: string; readonly output: O }
  | { readonly kind: 'done'; readonly key: string; readonly input: I; readonly output: O };

/** Merges inputs and outputs, both in the order of the outputs, in constant memory. */
export async function* matchOutputs<I extends Keyed, O extends Keyed>(
  inputs: AsyncIterable<I>,
  outputs: AsyncIterable<O>,
): AsyncGenerator<Match<I, O>> {
  const left = inputs[Symbol.asyncIterator]();
  const right = outputs[Symbol.asyncIterator]();
  let [input, output] = [await left.next(), await right.next()];
  while (!input.done || !output.done) {
    if (!input.done && (output.done || compareOutputs(input.value.key, output.value.key) < 0)) {
      yield { kind: 'missing', key: input.value.key };
      input = await left.next();
    } else if (!output.done) {
      const { key } = output.value;
      if (!input.done && input.value.key === key) {
        yield { kind: 'done', key, input: input.value, output: output.value };
        input = await left.next();
      } else {
        yield { kind: 'extra', key, output: output.value };
      }
      output = await right.next();
    }
  }
}
