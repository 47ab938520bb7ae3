/** Work on every row of a large output, which keeps other requests waiting no longer than that on a small one. */
import { eachInTurns, indices } from './in-turns.ts';

/** What an element of a row costs, in bytes that would be copied. */
const ELEMENT_BYTES = 16;

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
