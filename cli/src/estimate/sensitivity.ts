/** How far a way's cost depends on what is hardly known before it has run. */
import { type Estimate, estimate } from './estimate.ts';
import { type Prices, SPOT_SHARE } from './prices.ts';
import type { Workload } from './workload.ts';

/** What may turn out otherwise. */
interface Change {
  readonly name: string;
  readonly text: string;
  readonly work?: (work: Workload) => Partial<Workload>;
  /** Factor of the price of instances. */
  readonly hour?: number;
  /** Whether it can happen to this way. Default: to all. */
  readonly ways?: readonly string[];
}

export const CHANGES: readonly Change[] = [
  {
    name: 'slower',
    text: 'a quarter slower',
    work: ({ secondsPerImage }) => ({ secondsPerImage: secondsPerImage * 1.25 }),
  },
  {
    name: 'faster',
    text: 'a quarter faster',
    work: ({ secondsPerImage }) => ({ secondsPerImage: secondsPerImage * 0.75 }),
  },
  { name: 'failing', text: '1 in 100 fails', work: () => ({ failed: 0.01 }) },
  { name: 'spot', text: `spot at ${SPOT_SHARE * 100}%`, hour: SPOT_SHARE, ways: ['worker'] },
];

/** The cost after each change, US dollars, by the change's name; without those that cannot happen to the way. */
export function sensitivityOf(
  { way, instanceType }: Estimate,
  work: Workload,
  instanceHour: number,
  prices: Prices,
): Record<string, number> {
  const possible = CHANGES.filter(({ ways }) => ways === undefined || ways.includes(way));
  return Object.fromEntries(
    possible.map(({ name, work: change, hour = 1 }) => {
      const changed = { ...work, ...change?.(work) };
      return [name, estimate(way, changed, instanceType, instanceHour * hour, prices).cost];
    }),
  );
}
