/** What `bench --compare` prints. */
import { ms, table } from '../output/print.ts';
import { type Comparison, type Difference, FEWEST, LEAST_CHANGE, type Verdict } from './compare.ts';

const WORDS: Readonly<Record<Verdict, string>> = {
  faster: 'faster in these runs',
  slower: 'slower in these runs',
  noise: 'no difference beyond noise',
  unknown: `fewer than ${FEWEST} requests`,
};

/** A row for each measure, then what else differs. */
export function comparisonText(
  comparisons: readonly Comparison[],
  differences: readonly Difference[],
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
    `The interval is that of these two runs. A change up to ${100 * LEAST_CHANGE}%, or up to that between the halves of one run, counts as noise. What else runs on a machine changes a whole run: repeat both, in turns, before you rely on a small difference.`,
  ].join('\n');
}
