/** What `bench --compare` shows, in a terminal or not: the measures of each transport, and what to know of them. */
import {
  type Comparison,
  type Difference,
  FEWEST,
  MIN_CHANGE,
  type Verdict,
} from '../bench/compare.ts';
import { columns } from '../output/columns.ts';
import { ms } from '../output/print.ts';
import { behind, type Style } from '../output/style.ts';

const HEAD = ['measure', 'before', 'after', 'ratio', '95% interval', 'in these runs'];

const WORDS: Readonly<Record<Verdict, string>> = {
  faster: 'faster',
  slower: 'slower',
  noise: 'no difference beyond noise',
  unknown: `fewer than ${FEWEST} requests`,
};

/** @param runs of each side */
export function comparisonLines(
  comparisons: readonly Comparison[],
  differences: readonly Difference[],
  runs: number,
  style: Style,
): string[] {
  const transports = [...new Set(comparisons.map(({ transport }) => transport))];
  const tables = transports.flatMap((transport) => [
    // The only way needs no name.
    style.strong(transports.length > 1 ? `${transport}, milliseconds` : 'Milliseconds'),
    ...rowsOf(
      comparisons.filter((one) => one.transport === transport),
      style,
    ),
    '',
  ]);
  const notes = [
    ...differences.map(
      ({ what, before, after }) => `Not the same: ${what}: ${before} before, ${after} after.`,
    ),
    ...(differences.some(({ what }) => what === 'machine')
      ? ['The machines differ, so the ratio compares them as well. Run both on one.']
      : []),
    ...whatNoiseIs(runs),
  ];
  return [...tables, ...notes.flatMap((note) => behind('', note, style.width))];
}

function rowsOf(comparisons: readonly Comparison[], style: Style): string[] {
  const rows = comparisons.map(({ measure, before, after, ratio, interval, verdict }) => [
    measure,
    ms(before),
    ms(after),
    ratio.toFixed(2),
    interval ? `${interval.low.toFixed(2)} to ${interval.high.toFixed(2)}` : '-',
    WORDS[verdict],
  ]);
  const [titles = [], ...lines] = columns([HEAD, ...rows], style.width - 2);
  return [...titles.map(style.quiet), ...lines.flat()].map((line) => `  ${line}`);
}

function whatNoiseIs(runs: number): string[] {
  const least = 100 * MIN_CHANGE;
  return runs > 1
    ? [
        'The interval is that of the runs: what changes from run to run is in it, if they took turns.',
        `A change up to ${least}% counts as noise.`,
      ]
    : [
        'The interval is that of these two runs.',
        `A change up to ${least}%, or up to that between the halves of one run, counts as noise.`,
        'What else runs on a machine changes a whole run: for a small difference, repeat both in turns, and compare with --compare A1,A2,A3 B1,B2,B3.',
      ];
}
