/** Front ends under load, and the table that compares them. */
import type { BenchContext, Chart, ResultTable, Row } from './bench.ts';
import { calmRounds } from './calm-rounds.ts';
import { columns } from './columns.ts';
import type { FrontEnd } from './front-ends.ts';
import { type Load, type LoadResult, runLoad } from './load.ts';
import { median } from './median.ts';

/** A front end's figures under one load. */
export interface Loaded extends LoadResult {
  readonly name: string;
  readonly inFlight: number;
}

/** A front end's figures in a comparison. */
export interface Measured extends Loaded {
  /** Requests a second over the baseline's of the same moment; 1 for the baseline itself. */
  readonly ratio: number;
}

/** The request that every front end of a comparison gets. */
export type Request = Pick<Load, 'headers' | 'body'>;

/**
 * What answers so fast after one window of load gets more of it: a JIT compiler needs thousands of short requests in
 * each process. It ends after a number of answers or of windows; what costs no less CPU after `flat` windows
 * has nothing to compile.
 */
const SHORT = { leastRequestsPerSecond: 100, requests: 6_000, windows: 5, flat: 3, gain: 0.97 };

/** A front end by the name that the tables show. */
export type Contender = readonly [name: string, start: () => Promise<FrontEnd>];

/** Front ends that get the same requests. */
export interface Comparison {
  readonly baseline: Contender;
  readonly others: readonly Contender[];
  readonly request: Request;
  /** Requests in flight; each number is measured by itself. */
  readonly inFlight: readonly number[];
}

/**
 * Rounds in which a front end and the baseline take turns, so that what else the machine does meets both. With fewer
 * in flight than at most there is one.
 */
const ROUNDS = 3;
/**
 * Parts of a window that a turn takes. What answers fast is warmed up again: it was idle for a while, and its
 * memory is out of the caches.
 */
const TURN = { warmUp: 1 / 4, measured: 1 / 2 };

/**
 * Loads each front end in turns with the baseline, and with nothing else alive: a container is
 * alone on its machine as well.
 * @returns the baseline, then the others: the median round of each, by its requests a second, and the median of its
 *   rounds' ratios to the baseline
 */
export async function compareFrontEnds(
  context: BenchContext,
  { baseline, others, request, inFlight }: Comparison,
): Promise<Measured[]> {
  const most = Math.max(...inFlight);
  return running(context, baseline, request, most, async (base) => {
    const baseRounds = inFlight.map((): Measured[] => []);
    const measured: Measured[] = [];
    for (const contender of others) {
      await running(context, contender, request, most, async (one) => {
        for (const [index, count] of inFlight.entries()) {
          const rounds = one.pace === 'slow' || count < most ? 1 : ROUNDS;
          const turns = { seconds: context.seconds, request, inFlight: count, rounds };
          const before = baseRounds[index] as Measured[];
          measured.push(medianRound(await inTurns(turns, base, one, before)));
          logMeasured(context, measured.at(-1) as Measured);
        }
      });
    }
    const bases = baseRounds.map(medianRound);
    for (const one of bases) logMeasured(context, one);
    return inFlight.flatMap((count) =>
      [...bases, ...measured].filter((one) => one.inFlight === count),
    );
  });
}

/** A front end that runs and is warm. */
interface Running {
  readonly name: string;
  readonly frontEnd: FrontEnd;
  readonly pace: Pace;
}

/**
 * How long it takes for an answer: `short` where a window has many; `slow` where a request takes longer than its
 * window, and more rounds would say the same, later.
 */
type Pace = 'short' | 'usual' | 'slow';

/** Starts a front end, warms it up, and stops it when `use` is over. */
async function running<Result>(
  context: BenchContext,
  [name, start]: Contender,
  request: Request,
  inFlight: number,
  use: (one: Running) => Promise<Result>,
): Promise<Result> {
  const frontEnd = await start();
  try {
    const pace = await warmUp(context, name, frontEnd, request, inFlight);
    return await use({ name, frontEnd, pace });
  } finally {
    await frontEnd.stop();
  }
}

async function warmUp(
  { seconds }: BenchContext,
  name: string,
  frontEnd: FrontEnd,
  request: Request,
  inFlight: number,
): Promise<Pace> {
  const load = { inFlight, seconds, warmUpSeconds: 0 };
  const { requestsPerSecond, latency } = await measure(name, frontEnd, request, load);
  if (requestsPerSecond < SHORT.leastRequestsPerSecond) {
    return latency.p50 > seconds * 1_000 ? 'slow' : 'usual';
  }
  const cpu: number[] = [];
  for (let answered = 0; answered < SHORT.requests && cpu.length < SHORT.windows; ) {
    const one = await measure(name, frontEnd, request, load);
    answered += one.requestsPerSecond * seconds;
    cpu.push(one.cpuMilliseconds ?? 0);
    if (cpu.length === SHORT.flat && Math.min(...cpu) > (cpu[0] as number) * SHORT.gain) break;
  }
  return 'short';
}

/** What every turn of a comparison has in common. */
interface Turns {
  readonly request: Request;
  readonly inFlight: number;
  /** Of a window. */
  readonly seconds: number;
  readonly rounds: number;
}

/** The rounds of one front end; those of the baseline are added to `baseRounds`. */
async function inTurns(
  turns: Turns,
  base: Running,
  one: Running,
  baseRounds: Measured[],
): Promise<Measured[]> {
  return calmRounds(turns.rounds, async () => {
    if (base.pace !== 'slow' || baseRounds.length === 0) {
      baseRounds.push({ ...(await turn(turns, base)), ratio: 1 });
    }
    const measured = await turn(turns, one);
    const { requestsPerSecond } = baseRounds.at(-1) as Measured;
    return { ...measured, ratio: measured.requestsPerSecond / requestsPerSecond };
  });
}

function turn({ request, inFlight, seconds }: Turns, { name, frontEnd, pace }: Running) {
  return measure(name, frontEnd, request, {
    inFlight,
    seconds: seconds * TURN.measured,
    warmUpSeconds: pace === 'short' ? seconds * TURN.warmUp : 0,
  });
}

function medianRound(rounds: readonly Measured[]): Measured {
  const sorted = [...rounds].sort((a, b) => a.requestsPerSecond - b.requestsPerSecond);
  const middle = sorted[sorted.length >> 1] as Measured;
  return { ...middle, ratio: median(rounds.map(({ ratio }) => ratio)) };
}

/** Loads a front end that runs. */
export async function measure(
  name: string,
  frontEnd: Pick<FrontEnd, 'url' | 'path' | 'pids'>,
  request: Request,
  load: Pick<Load, 'inFlight' | 'seconds' | 'warmUpSeconds'>,
): Promise<Loaded> {
  const { url, path = '/invocations' } = frontEnd;
  const pids = () => frontEnd.pids();
  const result = await runLoad({ ...request, ...load, url, path, pids }).catch((cause) => {
    throw new Error(`${name}, ${load.inFlight} in flight: ${cause.message}`, { cause });
  });
  return { name, inFlight: load.inFlight, ...result };
}

/** One line of progress. */
function logMeasured(context: BenchContext, measured: Measured): void {
  const { name, inFlight, requestsPerSecond, latency, cpuMilliseconds } = measured;
  context.log(
    `${name}, ${inFlight} in flight: ${requestsPerSecond.toFixed(1)} req/s, P50 ${latency.p50.toFixed(2)} ms, CPU ${cpuMilliseconds?.toFixed(2)} ms`,
  );
}

const COLUMNS = columns({
  name: 'Front end',
  inFlight: 'In flight',
  requestsPerSecond: 'Requests/s',
  p50: 'P50 ms',
  p95: 'P95 ms',
  cpu: 'Front-end CPU, ms a request',
  megabytes: 'Response MB',
  ratio: 'Requests/s against the baseline',
});

/** A row for each front end of a comparison. */
export function servingTable(title: string, measured: readonly Measured[]): ResultTable {
  const rows = measured.map(
    (one): Row => ({
      name: one.name,
      inFlight: one.inFlight,
      requestsPerSecond: one.requestsPerSecond,
      p50: one.latency.p50,
      p95: one.latency.p95,
      cpu: one.cpuMilliseconds,
      megabytes: one.responseBytes / 1e6,
      ratio: one.ratio,
    }),
  );
  return { title: `${title} (baseline: ${measured[0]?.name})`, columns: COLUMNS, rows };
}

/** {@link Chart.conditions} where the model server answers ready bytes. */
export const NO_MODEL =
  'Front ends alone: the model server answers ready bytes and computes nothing. Python has a process a core, the rest one if not named.';

/** What a chart shows of each front end. */
const SHOWN = {
  rate: { unit: 'requests a second', figureOf: (one: Measured) => one.requestsPerSecond },
  latency: { unit: 'ms, median', figureOf: (one: Measured) => one.latency.p50 },
} as const;

/** Bars of the front ends at one number in flight. */
export function frontEndChart(
  shown: keyof typeof SHOWN,
  title: string,
  conditions: string,
  measured: readonly Measured[],
  inFlight: number,
): Chart {
  const { unit, figureOf } = SHOWN[shown];
  return {
    title: `${title}, ${inFlight} in flight`,
    conditions,
    unit,
    bars: measured
      .filter((one) => one.inFlight === inFlight)
      .map((one) => ({ name: one.name, value: figureOf(one) })),
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

/** Requests a second of one front end over another's, each against the baseline; NaN where one was not measured. */
export function rateRatio(
  measured: readonly Measured[],
  ours: string,
  theirs: string,
  inFlight: number,
): number {
  const ratio = (name: string) => find(measured, name, inFlight)?.ratio ?? Number.NaN;
  return ratio(ours) / ratio(theirs);
}
