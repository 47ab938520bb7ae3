/** What `bench --compare` prints. */
import { ms, table } from '../output/print.ts';
import { type Comparison, type Difference, FEWEST, MIN_CHANGE, type Verdict } from './compare.ts';

const WORDS: Readonly<Record<Verdict, string>> = {
  faster: 'faster in these runs',
  slower: 'slower in these runs',
  noise: 'no difference beyond noise',
  unknown: `fewer than ${FEWEST} requests`,
};

/** A row for each measure, then what else differs. @param runs of each side */
export function comparisonText(
  comparisons: readonly Comparison[],
  differences: readonly Difference[],
  runs: number,
): string {
  const rows = comparisons.map(
    ({ transport, measure, before, after, ratio, interval, verdict }) => [
      transport,
      measure === 'requests/s' ? measure : `${measure} ms`,
      ms(before),
      ms(after),
      ratio.toFixed(2),
      interval ? `${interval.low.toFixed(2)} to ${interval.high.toFixed(2)}` : '-',
      WORDS[verdict],
    ],
  );
  return [
    table(['transport', '', 'before', 'after', 'ratio', '95% interval', ''], rows),
    ...differences.map(
      ({ what, before, after }) => `Not the same: ${what}: ${before} before, ${after} after.`,
    ),
    ...(differences.some(({ what }) => what === 'machine')
      ? ['The machines differ, so the ratio compares them as well. Run both on one.']
      : []),
    runs > 1
      ? `The interval is that of the runs: what changes from run to run is in it, if they took turns. A change up to ${100 * MIN_CHANGE}% counts as noise.`
      : `The interval is that of these two runs. A change up to ${100 * MIN_CHANGE}%, or up to that between the halves of one run, counts as noise. What else runs on a machine changes a whole run: for a small difference, repeat both in turns, and compare with --compare A1,A2,A3 B1,B2,B3.`,
  ].join('\n');
}
