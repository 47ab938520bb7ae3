/** Whether a number is near enough to the one that was expected. */

/** How near: |value - expected| <= absolute + relative * |expected|. */
export interface Nearness {
  readonly absolute: number;
  readonly relative: number;
}

/**
 * As NumPy's `isclose` with `equal_nan`: an infinity is near to itself alone, since a share of it would let any number
 * pass, and NaN to NaN.
 */
export function isNear(value: number, expected: number, { absolute, relative }: Nearness): boolean {
  if (value === expected || (Number.isNaN(value) && Number.isNaN(expected))) return true;
  if (!Number.isFinite(value) || !Number.isFinite(expected)) return false;
  return Math.abs(value - expected) <= absolute + relative * Math.abs(expected);
}
