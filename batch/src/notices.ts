/** Percentages of a run at which somebody receives a message. */

/** What a percentage may be: at 0 and at 100 there are other messages. */
export const NOTICE_PERCENTS = { from: 1, to: 99 } as const;

/** Which of the percentages are reached. @param done of the whole, which is above 0 */
export function noticesReached(
  noticesAt: readonly number[],
  done: number,
  whole: number,
): readonly number[] {
  return noticesAt.filter((percent) => 100 * done >= percent * whole);
}
