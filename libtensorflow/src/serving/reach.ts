/** How far trials reach. A model may answer otherwise from some number of rows on, such as experts with a capacity. */

/** From the rows of the smallest request, or part, that ran by itself to those that ran together. */
export interface Reach {
  readonly least: number;
  readonly rows: number;
}

/**
 * Whether what was tried shows something of a batch: nothing of one of more rows, nor of one with a smaller request, which
 * may have passed that number already in what was tried.
 */
export function reaches(tried: readonly Reach[], { least, rows }: Reach): boolean {
  return tried.some((one) => one.least <= least && one.rows >= rows);
}

/** What was tried, and one more; what that shows as well is not kept. */
export function extended(tried: readonly Reach[], reach: Reach): readonly Reach[] {
  if (reaches(tried, reach)) return tried;
  return [...tried.filter((one) => !reaches([reach], one)), reach];
}
