/** What becomes of outputs that are there before a run. */

/** Which outputs that are there already count as done. */
export const EXISTING = ['older', 'skip', 'replace'] as const;
/**
 * - `older`: those of the same model and settings that are not older than their input; the rest is made again
 * - `skip`: all, whatever made them
 * - `replace`: only those that this run has made
 */
export type Existing = (typeof EXISTING)[number];
