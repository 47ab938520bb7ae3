/** Work on every element of a large output, which keeps other requests waiting no longer than that on a small one. */
import { eachInTurns, indices } from './in-turns.ts';

/** What an element costs, in bytes that would be copied. */
const ELEMENT_BYTES = 16;

/** Elements of a span: what is done without a look at the time. */
export const SPAN = 2 ** 13;

/** Does work that is written as steps. Each yields how many elements it went over, at most some {@link SPAN}. */
export function inSteps(steps: Iterable<number>): Promise<void> {
  return eachInTurns(steps, () => undefined, { bytesOf: (elements) => elements * ELEMENT_BYTES });
}

/** A pass over the elements from `start` to `end`, as steps: a row of many millions is none that one turn has time for. */
export function* spans(
  start: number,
  end: number,
  work: (from: number, to: number) => void,
): Iterable<number> {
  for (let from = start; from < end; from += SPAN) {
    const to = Math.min(from + SPAN, end);
    work(from, to);
    yield to - from;
  }
}

/**
 * Calls `work` with the index of each row's first element, with other requests' turns in between.
 * @param length elements of the tensor
 * @param width elements of a row; 0 where there are none
 */
export function eachRowInTurns(
  length: number,
  width: number,
  work: (start: number) => void,
): Promise<void> {
  return eachInTurns(indices(length, width), work, { bytesOf: () => width * ELEMENT_BYTES });
}
