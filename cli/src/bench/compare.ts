/** Two runs of `bench`: by how much they differ, and whether that is more than noise. */
import { summarize } from '../output/latency.ts';
import type { BenchRun, TransportResult } from './bench-run.ts';
import { type Interval, ratioOf, type Statistic } from './ratio.ts';

/** What is compared. */
export const MEASURES = ['mean', 'P50', 'P95', 'requests/s'] as const;
export type Measure = (typeof MEASURES)[number];

/**
 * `noise`: the interval includes 1, or the change is no larger than {@link LEAST_CHANGE} or than that between the halves of
 * one of the runs. `unknown`: too few requests.
 */
export type Verdict = 'faster' | 'slower' | 'noise' | 'unknown';

/** One measure of one transport. */
export interface Comparison {
  readonly transport: string;
  readonly measure: Measure;
  readonly before: number;
  readonly after: number;
  /** After to before. */
  readonly ratio: number;
  /** In which the ratio lies with 95% confidence, as far as these two runs show it; absent with too few requests. */
  readonly interval?: Interval;
  readonly verdict: Verdict;
}

/** What makes two runs incomparable, or comparable in part. */
export interface Difference {
  readonly what: string;
  readonly before: string;
  readonly after: string;
}

/** Fewer requests show no interval. */
export const FEWEST = 20;
/** Two runs of the same server differ by as much: what runs beside them changes a run as a whole. */
export const LEAST_CHANGE = 0.03;

/** Every measure of every transport that both runs have. */
export function compareRuns(before: BenchRun, after: BenchRun): Comparison[] {
  return before.results.flatMap((one) => {
    const other = after.results.find(({ transport }) => transport === one.transport);
    return other ? MEASURES.map((measure) => compare(measure, one, other)) : [];
  });
}

function compare(measure: Measure, before: TransportResult, after: TransportResult): Comparison {
  const [from, to] = [figureOf(measure, before), figureOf(measure, after)];
  const told = { transport: before.transport, measure, before: from, after: to, ratio: to / from };
  if (Math.min(before.milliseconds.length, after.milliseconds.length) < FEWEST) {
    return { ...told, verdict: 'unknown' };
  }
  const interval = intervalOf(measure, before, after, told.ratio);
  const drift = Math.max(driftOf(measure, before), driftOf(measure, after));
  return { ...told, interval, verdict: verdictOf(measure, told.ratio, interval, drift) };
}

function figureOf(measure: Measure, { latency, requestsPerSecond }: TransportResult): number {
  switch (measure) {
    case 'mean':
      return latency.mean;
    case 'P50':
      return latency.p50;
    case 'P95':
      return latency.p95;
    case 'requests/s':
      return requestsPerSecond;
  }
}

const STATISTICS: Readonly<Record<Measure, Statistic>> = {
  mean: 'mean',
  P50: 'p50',
  P95: 'p95',
  'requests/s': 'mean',
};

function intervalOf(
  measure: Measure,
  before: TransportResult,
  after: TransportResult,
  ratio: number,
): Interval {
  const interval = ratioOf(STATISTICS[measure], before.milliseconds, after.milliseconds);
  if (measure !== 'requests/s') return interval;
  // A fixed number in flight: the rate is that number by the mean latency, and varies as it does.
  const ofMeans = after.latency.mean / before.latency.mean;
  return { low: (ratio * ofMeans) / interval.high, high: (ratio * ofMeans) / interval.low };
}

/** By how much the two halves of a run differ, as a logarithm: what the machine does to a run while nothing changes. */
function driftOf(measure: Measure, { milliseconds }: TransportResult): number {
  const half = Math.floor(milliseconds.length / 2);
  const [first, second] = [milliseconds.slice(0, half), milliseconds.slice(half)].map(
    (part) => summarize(part)[STATISTICS[measure]],
  ) as [number, number];
  return Math.abs(Math.log(second / first));
}

function verdictOf(
  measure: Measure,
  ratio: number,
  { low, high }: Interval,
  drift: number,
): Verdict {
  const isSure = low > 1 || high < 1;
  const least = Math.max(Math.log(1 + LEAST_CHANGE), drift);
  if (!isSure || Math.abs(Math.log(ratio)) <= least) return 'noise';
  const isMore = ratio > 1;
  return isMore === (measure === 'requests/s') ? 'faster' : 'slower';
}

/** What differs between the runs besides the times. */
export function differencesOf(before: BenchRun, after: BenchRun): Difference[] {
  const machine = ({ machine: one }: BenchRun) =>
    `${one.cpu}, ${one.cores} cores, ${one.memoryGiB} GiB`;
  const facts: readonly (readonly [string, (run: BenchRun) => string | undefined])[] = [
    ['machine', machine],
    ['system', ({ machine: { platform } }) => platform],
    ['Node', ({ machine: { node } }) => node],
    ['sagemaker-tfs', ({ machine: { command } }) => command],
    ['model', ({ model }) => model.fingerprint],
    ['model version', ({ model }) => model.version],
    ['request body', ({ request }) => request.sha256.slice(0, 16)],
    ['content type', ({ request }) => request.contentType],
    ['accept', ({ request }) => request.accept],
    ['in flight', ({ request }) => String(request.inFlight)],
    ['transports', ({ results }) => results.map(({ transport }) => transport).join(', ')],
  ];
  return facts.flatMap(([what, of]) => {
    const [one = 'unknown', other = 'unknown'] = [of(before), of(after)];
    return one === other ? [] : [{ what, before: one, after: other }];
  });
}
