/** Front ends under load, and the table that compares them. */
import type { BenchContext, Chart, Column, ResultTable, Row } from './bench.ts';
import type { FrontEnd } from './front-ends.ts';
import { type Load, type LoadResult, runLoad } from './load.ts';

/** A front end's figures under one load. */
export interface Measured extends LoadResult {
  readonly name: string;
  readonly inFlight: number;
}

/** The request that every front end of a comparison gets. */
export type Request = Pick<Load, 'headers' | 'body'>;

/**
 * What answers so fast after one window of load gets more of it: a JIT compiler needs thousands of short requests in
 * each process. Until so many were answered, or so many windows are over; what costs no less CPU after `flat` windows
 * has nothing to compile.
 */
const SHORT = { leastRequestsPerSecond: 100, requests: 8_000, windows: 7, flat: 3, gain: 0.97 };

/** A front end by the name that the tables show. */
export type Contender = readonly [name: string, start: () => Promise<FrontEnd>];

/** Rounds in which the contenders take turns, so that what else the machine does meets all of them. */
const ROUNDS = 3;
/**
 * Parts of a window that a turn takes. What answers fast is warmed up again: it was idle for a while, and its
 * memory is out of the caches.
 */
const TURN = { warmUp: 1 / 4, measured: 1 / 2 };

/**
 * Starts every front end and loads one after another, in rounds, at each of `inFlight`.
 * @returns the median round of each, by its requests a second
 */
export async function compareFrontEnds(
  context: BenchContext,
  contenders: readonly Contender[],
  request: Request,
  inFlight: readonly number[],
): Promise<Measured[]> {
  const running: Running[] = [];
  const measured: Measured[] = [];
  try {
    for (const [name, start] of contenders) {
      const frontEnd = await start();
      const one = { name, frontEnd, isShort: false };
      running.push(one);
      one.isShort = await warmUp(context, one, request, Math.max(...inFlight));
    }
    for (const count of inFlight) {
      measured.push(...(await rounds(context, running, request, count)));
    }
  } finally {
    await Promise.all(running.map(({ frontEnd }) => frontEnd.stop()));
  }
  return measured;
}

interface Running {
  readonly name: string;
  readonly frontEnd: FrontEnd;
  /** Whether it answers many requests in a window. */
  readonly isShort: boolean;
}

/** @returns whether it answers many requests in a window */
async function warmUp(
  { seconds }: BenchContext,
  { name, frontEnd }: Running,
  request: Request,
  inFlight: number,
): Promise<boolean> {
  const load = { inFlight, seconds, warmUpSeconds: 0 };
  const { requestsPerSecond } = await measure(name, frontEnd, request, load);
  if (requestsPerSecond < SHORT.leastRequestsPerSecond) return false;
  const cpu: number[] = [];
  for (let answered = 0; answered < SHORT.requests && cpu.length < SHORT.windows; ) {
    const one = await measure(name, frontEnd, request, load);
    answered += one.requestsPerSecond * seconds;
    cpu.push(one.cpuMilliseconds ?? 0);
    if (cpu.length === SHORT.flat && Math.min(...cpu) > (cpu[0] as number) * SHORT.gain) break;
  }
  return true;
}

async function rounds(
  context: BenchContext,
  running: readonly Running[],
  request: Request,
  inFlight: number,
): Promise<Measured[]> {
  const all = running.map((): Measured[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, { name, frontEnd, isShort }] of running.entries()) {
      if (isSlow(all[index]?.[0], context)) continue;
      const seconds = context.seconds * TURN.measured;
      const warmUpSeconds = isShort ? context.seconds * TURN.warmUp : 0;
      all[index]?.push(
        await measure(name, frontEnd, request, { inFlight, seconds, warmUpSeconds }),
      );
    }
  }
  const medians = all.map(medianRound);
  for (const one of medians) logMeasured(context, one);
  return medians;
}

/** A request that takes longer than its window is measured once: more rounds would say the same, later. */
function isSlow(first: Measured | undefined, { seconds }: BenchContext): boolean {
  return first !== undefined && first.latency.p50 > seconds * 1_000;
}

function medianRound(rounds: readonly Measured[]): Measured {
  const sorted = [...rounds].sort((a, b) => a.requestsPerSecond - b.requestsPerSecond);
  return sorted[sorted.length >> 1] as Measured;
}

/** Loads a front end that runs. */
export async function measure(
  name: string,
  frontEnd: Pick<FrontEnd, 'url' | 'path' | 'pids'>,
  request: Request,
  load: Pick<Load, 'inFlight' | 'seconds' | 'warmUpSeconds'>,
): Promise<Measured> {
  const { url, path = '/invocations' } = frontEnd;
  const pids = () => frontEnd.pids();
  const result = await runLoad({ ...request, ...load, url, path, pids }).catch((cause) => {
    throw new Error(`${name}, ${load.inFlight} in flight: ${cause.message}`, { cause });
  });
  return { name, inFlight: load.inFlight, ...result };
}

/** One line of progress. */
export function logMeasured(context: BenchContext, measured: Measured): void {
  const { name, inFlight, requestsPerSecond, latency, cpuMilliseconds } = measured;
  context.log(
    `${name}, ${inFlight} in flight: ${requestsPerSecond.toFixed(1)} req/s, P50 ${latency.p50.toFixed(2)} ms, CPU ${cpuMilliseconds?.toFixed(2)} ms`,
  );
}

const COLUMNS: readonly Column[] = [
  { key: 'name', title: 'Front end' },
  { key: 'inFlight', title: 'In flight' },
  { key: 'requestsPerSecond', title: 'Requests/s' },
  { key: 'p50', title: 'P50 ms' },
  { key: 'p95', title: 'P95 ms' },
  { key: 'cpu', title: 'Front-end CPU, ms a request' },
  { key: 'megabytes', title: 'Response MB' },
  { key: 'ratio', title: 'Requests/s against the baseline' },
];

/** A row for each; the ratio is to `baseline` at the same number in flight. */
export function servingTable(
  title: string,
  measured: readonly Measured[],
  baseline: string,
): ResultTable {
  const rows = measured.map((one): Row => {
    const base = find(measured, baseline, one.inFlight);
    return {
      name: one.name,
      inFlight: one.inFlight,
      requestsPerSecond: one.requestsPerSecond,
      p50: one.latency.p50,
      p95: one.latency.p95,
      cpu: one.cpuMilliseconds,
      megabytes: one.responseBytes / 1e6,
      ratio: base && one.requestsPerSecond / base.requestsPerSecond,
    };
  });
  return { title: `${title} (baseline: ${baseline})`, columns: COLUMNS, rows };
}

/** Bars of requests a second at one number in flight. */
export function rateChart(title: string, measured: readonly Measured[], inFlight: number): Chart {
  return {
    title: `${title}, ${inFlight} in flight`,
    unit: 'requests a second',
    bars: measured
      .filter((one) => one.inFlight === inFlight)
      .map(({ name, requestsPerSecond }) => ({ name, value: requestsPerSecond })),
  };
}

/** Bars of the median time at one number in flight. */
export function latencyChart(
  title: string,
  measured: readonly Measured[],
  inFlight: number,
  logarithmic = false,
): Chart {
  return {
    title: `${title}, ${inFlight} in flight`,
    unit: 'ms, median',
    logarithmic,
    bars: measured
      .filter((one) => one.inFlight === inFlight)
      .map(({ name, latency }) => ({ name, value: latency.p50 })),
  };
}

/** The figures of one front end. */
export function find(
  measured: readonly Measured[],
  name: string,
  inFlight: number,
): Measured | undefined {
  return measured.find((one) => one.name === name && one.inFlight === inFlight);
}

/** Requests a second of one front end over another's; NaN where one was not measured. */
export function rateRatio(
  measured: readonly Measured[],
  ours: string,
  theirs: string,
  inFlight: number,
): number {
  const rate = (name: string) => find(measured, name, inFlight)?.requestsPerSecond ?? Number.NaN;
  return rate(ours) / rate(theirs);
}
