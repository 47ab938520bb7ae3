/** Tensors as people write them in a form: JSON, or a word that fills the shape. */
import type { TensorDescription } from '../description.ts';

/** Elements beyond which a form shows a word instead of the values. */
const WRITTEN = 64;

/** Words that stand for a whole tensor. */
export const FILLS = ['zeros', 'ones', 'random'] as const;

/** What a field holds at first: a value of the right form. */
export function firstText({ dtype, shape }: TensorDescription): string {
  const sizes = (shape ?? []).map((size) => (size < 0 ? 1 : size));
  const count = sizes.reduce((product, size) => product * size, 1);
  if (count > WRITTEN) return 'random';
  return JSON.stringify(filled(sizes, () => (dtype === 'string' ? 'text' : zeroOf(dtype))));
}

function zeroOf(dtype: string): number | boolean {
  return dtype === 'bool' ? false : /^(b?float)/.test(dtype) ? 1.5 : 1;
}

/**
 * The field's text as JSON text. One value needs no brackets where the shape has one element, and a string no quotes.
 * @throws Error in words, for the field
 */
export function jsonOf(text: string, input: TensorDescription): string {
  const { dtype, shape } = input;
  const word = text.trim();
  const sizes = (shape ?? [1]).map((size) => (size < 0 ? 1 : size));
  if (dtype === 'string' && !word.startsWith('[')) {
    if (sizes.some((size) => size !== 1)) {
      throw new Error(`strings need a JSON array, for example ${firstText(input)}`);
    }
    const string = word.startsWith('"') ? parsed(word) : word;
    return JSON.stringify(filled(sizes, () => string as string));
  }
  if ((FILLS as readonly string[]).includes(word)) {
    return JSON.stringify(filled(sizes, () => elementOf(word, dtype)));
  }
  // The runtime takes these beside JSON.
  const value = parsed(/float/.test(dtype) ? word.replace(/-?\b(NaN|Infinity)\b/g, '0') : word);
  const isOne = /^(?:number|boolean)$/.test(typeof value) && sizes.every((size) => size === 1);
  const depth = isOne ? (shape ?? []).length : 0;
  // As written: numbers beyond 2^53 keep their digits.
  return '['.repeat(depth) + word + ']'.repeat(depth);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`not JSON: ${(error as Error).message}`, { cause: error });
  }
}

function elementOf(word: string, dtype: string): number | boolean {
  const value = word === 'zeros' ? 0 : word === 'ones' ? 1 : Math.random();
  if (dtype === 'bool') return value >= 0.5;
  if (/float/.test(dtype)) return Math.fround(Number(value.toFixed(4)));
  return word === 'random' ? Math.floor(value * 100) : value;
}

type Nested = number | boolean | string | Nested[];

function filled(sizes: readonly number[], element: () => number | boolean | string): Nested {
  const [size, ...rest] = sizes;
  return size === undefined ? element() : Array.from({ length: size }, () => filled(rest, element));
}
