/** What happens to outputs that exist before a run. */

/** Which outputs that are there already count as done. */
export const EXISTING = ['older', 'skip', 'replace'] as const;
/**
 * - `older`: those of the same model and settings that are not older than their input; the rest is made again
 * - `skip`: all, whatever made them
 * - `replace`: only those that this run has made
 */
export type Existing = (typeof EXISTING)[number];

/** When an object was written, milliseconds since 1970. */
interface Written {
  readonly modified: number;
}

/**
 * Whether an output that is there is the answer to its input.
 * @param input undefined if it is gone
 * @param since outputs that are older do not count, but for `skip`: with `older` they are of another model or other
 *   settings, with `replace` of another run; milliseconds since 1970
 */
export function countsAsDone(
  existing: Existing,
  since: number,
  output: Written,
  input: Written | undefined,
): boolean {
  if (existing === 'skip') return true;
  if (output.modified < since) return false;
  return existing === 'replace' || !input || output.modified >= input.modified;
}
