/** Percentages of a run at which somebody receives a message. */

/** Which of the percentages are reached. @param done of the whole, which is above 0 */
export function noticesReached(
  noticesAt: readonly number[],
  done: number,
  whole: number,
): readonly number[] {
  return noticesAt.filter((percent) => 100 * done >= percent * whole);
}
