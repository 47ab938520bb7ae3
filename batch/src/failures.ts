/** What failed inputs mean for a run, in every engine that asks the runtime itself. */

/** Inputs that are tried before failures end a run. */
const TRIED_FIRST = 200;

/** Milliseconds before the second try of an input. */
const FIRST_WAIT = 100;

/** Whether an input that got this status may get another answer at the next try. */
export function mayHelpToRetry(status: number): boolean {
  return status === 429 || (status >= 500 && status !== 501);
}

/**
 * Milliseconds to wait before another try.
 * @param failed tries that have failed, from 1
 */
export function waitAfter(failed: number): number {
  return FIRST_WAIT * 2 ** (failed - 1);
}

/** Whether more than `most` percent of the inputs failed, as soon as some were tried. */
export function areTooMany(failed: number, tried: number, most: number): boolean {
  return tried >= TRIED_FIRST && (100 * failed) / tried > most;
}
