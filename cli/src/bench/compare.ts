/** Runs of `bench` before and after: by how much they differ, and whether that is more than noise. */
import { summarize } from '../output/latency.ts';
import type { BenchRun, TransportResult } from './bench-run.ts';
import { type Interval, ratioOf, type Statistic } from './ratio.ts';
import { ratioOfRuns } from './ratio-of-runs.ts';

/** What is compared. */
const MEASURES = ['mean', 'P50', 'P95', 'requests/s'] as const;
export type Measure = (typeof MEASURES)[number];

/**
 * `noise`: the interval includes 1, or the change is no larger than {@link MIN_CHANGE} or than that between the halves of
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
  /** In which the ratio lies with 95% confidence, as far as these runs show it; absent with too few requests. */
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
export const MIN_CHANGE = 0.03;

/** Runs of one side that show how much a run differs from the next. */
export const ENOUGH_RUNS = 3;

/** Every measure of every transport that all runs have. @param before one run, or at least {@link ENOUGH_RUNS}, as `after` */
export function compareRuns(before: readonly BenchRun[], after: readonly BenchRun[]): Comparison[] {
  const [first] = before;
  return (first?.results ?? []).flatMap(({ transport }) => {
    const sides = [before, after].map((runs) =>
      runs.flatMap(({ results }) => results.filter((one) => one.transport === transport)),
    );
    const [from = [], to = []] = sides;
    const isEverywhere = from.length === before.length && to.length === after.length;
    return isEverywhere ? MEASURES.map((measure) => compare(measure, from, to)) : [];
  });
}

function compare(
  measure: Measure,
  before: readonly TransportResult[],
  after: readonly TransportResult[],
): Comparison {
  const [from, to] = [before, after].map((runs) => runs.map((run) => figureOf(measure, run)));
  const [one, other] = [middleOf(from ?? []), middleOf(to ?? [])];
  const transport = before[0]?.transport ?? '';
  const told = { transport, measure, before: one, after: other, ratio: other / one };
  if (before.length >= ENOUGH_RUNS) {
    const interval = ratioOfRuns(from ?? [], to ?? []);
    return { ...told, interval, verdict: verdictOf(measure, told.ratio, interval, 0) };
  }
  return { ...told, ...withinRuns(measure, before[0], after[0], told.ratio) };
}

/** Geometric, so that the ratio of two is that of their middles. */
function middleOf(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

/** One run each: what the requests of each show. */
function withinRuns(
  measure: Measure,
  before: TransportResult | undefined,
  after: TransportResult | undefined,
  ratio: number,
): Pick<Comparison, 'interval' | 'verdict'> {
  if (!before || !after) return { verdict: 'unknown' };
  if (Math.min(before.milliseconds.length, after.milliseconds.length) < FEWEST) {
    return { verdict: 'unknown' };
  }
  const interval = intervalOf(measure, before, after, ratio);
  const drift = Math.max(driftOf(measure, before), driftOf(measure, after));
  return { interval, verdict: verdictOf(measure, ratio, interval, drift) };
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
  const least = Math.max(Math.log(1 + MIN_CHANGE), drift);
  if (!isSure || Math.abs(Math.log(ratio)) <= least) return 'noise';
  const isMore = ratio > 1;
  return isMore === (measure === 'requests/s') ? 'faster' : 'slower';
}

/** What differs between the runs besides the times. */
export function differencesOf(
  before: readonly BenchRun[],
  after: readonly BenchRun[],
): Difference[] {
  const textOf = (runs: readonly BenchRun[], of: (run: BenchRun) => string | undefined) =>
    [...new Set(runs.map((run) => of(run) ?? 'unknown'))].join(' and ');
  return Object.entries(FACTS).flatMap(([what, of]) => {
    const [one, other] = [textOf(before, of), textOf(after, of)];
    return one === other && !one.includes(' and ') ? [] : [{ what, before: one, after: other }];
  });
}

const FACTS: Readonly<Record<string, (run: BenchRun) => string | undefined>> = {
  machine: ({ machine: { cpu, cores, memoryGiB } }) => `${cpu}, ${cores} cores, ${memoryGiB} GiB`,
  system: ({ machine: { platform } }) => platform,
  Node: ({ machine: { node } }) => node,
  'sagemaker-tfs': ({ machine: { command } }) => command,
  model: ({ model }) => model.fingerprint,
  'model version': ({ model }) => model.version,
  'request body': ({ request }) => request.sha256.slice(0, 16),
  'content type': ({ request }) => request.contentType,
  accept: ({ request }) => request.accept,
  'in flight': ({ request }) => String(request.inFlight),
  transports: ({ results }) => results.map(({ transport }) => transport).join(', '),
};
