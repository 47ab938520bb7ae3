import { Z_95 } from '../bench/ratio-of-runs.ts';

/** A share with its 95% interval, after Wilson. */
export interface Share {
  readonly count: number;
  readonly of: number;
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

/** @see https://en.wikipedia.org/wiki/Binomial_proportion_confidence_interval#Wilson_score_interval */
export function shareOf(count: number, of: number): Share {
  if (of === 0) return { count, of, share: 0, low: 0, high: 1 };
  const share = count / of;
  const spread = Z_95 * Math.sqrt((share * (1 - share)) / of + Z_95 ** 2 / (4 * of ** 2));
  const middle = share + Z_95 ** 2 / (2 * of);
  const scale = 1 + Z_95 ** 2 / of;
  return { count, of, share, low: (middle - spread) / scale, high: (middle + spread) / scale };
}
