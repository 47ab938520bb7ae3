/** Parts of an answer's time in words. */
import { PARTS, type PartTimes } from '../bench/bench-run.ts';

export const PART_NAMES = {
  receive: 'reading the body',
  queue: 'waiting for the model',
  decode: 'body to tensors',
  predict: 'the model',
  encode: 'tensors to body',
  around: 'network and client',
} as const satisfies Readonly<Record<(typeof PARTS)[number], string>>;

/** The same times under these names, in the order of time. */
export function partsByName(parts: PartTimes): Readonly<Record<string, number>> {
  return Object.fromEntries(PARTS.map((part) => [PART_NAMES[part], parts[part]]));
}
