/** The interval of a ratio between several runs before and several after: what changes from run to run is in it. */
import type { Interval } from './ratio.ts';

/** Of the normal distribution, for 95% on both sides together. */
export const Z_95 = 1.959964;

/** Welch's interval of the ratio of the figures' geometric means, one figure a run, two runs a side at least. */
export function ratioOfRuns(before: readonly number[], after: readonly number[]): Interval {
  const [one, other] = [logarithms(before), logarithms(after)];
  const variance = one.variance + other.variance;
  const middle = other.mean - one.mean;
  if (variance === 0) return { low: Math.exp(middle), high: Math.exp(middle) };
  // Welch and Satterthwaite.
  const freedom =
    variance ** 2 /
    (one.variance ** 2 / (before.length - 1) + other.variance ** 2 / (after.length - 1));
  const reach = studentQuantile(freedom) * Math.sqrt(variance);
  return { low: Math.exp(middle - reach), high: Math.exp(middle + reach) };
}

/** Mean of the logarithms, and the variance of that mean. */
function logarithms(values: readonly number[]): {
  readonly mean: number;
  readonly variance: number;
} {
  const logs = values.map(Math.log);
  const mean = logs.reduce((sum, value) => sum + value, 0) / logs.length;
  const squares = logs.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, variance: squares / (logs.length - 1) / logs.length };
}

/** Student's t for 95% on both sides together: Abramowitz and Stegun 26.7.5, within 4% from two degrees of freedom on. */
export function studentQuantile(freedom: number): number {
  const z = Z_95;
  const g1 = (z ** 3 + z) / 4;
  const g2 = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96;
  const g3 = (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384;
  const g4 = (79 * z ** 9 + 776 * z ** 7 + 1482 * z ** 5 - 1920 * z ** 3 - 945 * z) / 92_160;
  return z + g1 / freedom + g2 / freedom ** 2 + g3 / freedom ** 3 + g4 / freedom ** 4;
}
