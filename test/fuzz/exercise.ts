/** Gives a parser many inputs and tells what it did with them. */
import { mutate, type Random, randomOf } from './random.ts';
import type { Target } from './target.ts';

/** What was wrong with one input. */
export interface Finding {
  readonly index: number;
  readonly what: string;
  /** The input, in base64. */
  readonly input: string;
}

/** Inputs that were made in one way. */
export interface Tried {
  readonly inputs: number;
  /** The others were refused. */
  readonly read: number;
}

/** How inputs are made: by the format's rules, or by changing bytes of a whole one. */
export type Way = 'built' | 'changed';

/** What a parser did. */
export interface Outcome {
  readonly target: string;
  readonly ways: Readonly<Record<Way, Tried>>;
  /** Milliseconds of the slowest input, in processor time where that is much. */
  readonly slowestMs: number;
  /** Most memory of the process, in MiB. */
  readonly peakMiB: number;
  /** Processor seconds of all. */
  readonly cpuSeconds: number;
  readonly findings: readonly Finding[];
}

/** How to exercise. */
interface ExerciseOptions {
  readonly seed: number;
  /** Index of the first input. Default: 0. */
  readonly from?: number;
  readonly inputs: number;
  /** Whether time and memory are judged, for which the process must be this run's alone. Default: true. */
  readonly judgesCost?: boolean;
  /** The most bytes that the process ever held. Default: what the system says. */
  readonly mostBytes?: () => number;
  /** Told before every input. */
  readonly onInput?: (index: number) => void;
}

/** Honest inputs come after this number of others, and must be read as before. */
const HONEST_EVERY = 500;
const MAX_FINDINGS = 10;
/** Processor time is asked for so often, and for inputs that take longer than this. */
const CPU_EVERY = 16;
const LONG_MS = 5;
const MIB = 2 ** 20;
/** An input is hung that takes longer, in processor time. */
const MAX_CPU_MS = 2_000;
/** A process that holds so much more than after its honest inputs holds on to something. */
const MAX_HELD_MIB = 512;
/** What V8 leaves lying before it collects. */
const GARBAGE_MIB = 48;
/** One input in this number is made by changing bytes, whatever the format's rules. */
const CHANGED_EVERY = 4;

/** The input of an index. */
export async function inputOf(
  target: Target,
  seeds: readonly Uint8Array[],
  seed: number,
  index: number,
): Promise<{ bytes: Buffer; way: Way }> {
  const random = randomOf(seed, index);
  if (random(CHANGED_EVERY) === 0) {
    return { bytes: mutate(random, seeds, target.tokens), way: 'changed' };
  }
  return { bytes: await target.build(random, seeds, readerOf(seed, index)), way: 'built' };
}

/** The numbers that the reader of an input gets. */
function readerOf(seed: number, index: number): Random {
  return randomOf(seed + 1, index);
}

/** Runs the target. */
export async function exercise(target: Target, options: ExerciseOptions): Promise<Outcome> {
  const { seed, from = 0, inputs, judgesCost = true, mostBytes = mostEverHeld, onInput } = options;
  const seeds = await target.seeds();
  const honest = await honestAnswers(target, seeds);
  const findings: Finding[] = [];
  const ways = { built: { inputs: 0, read: 0 }, changed: { inputs: 0, read: 0 } };
  const cpuAtStart = process.cpuUsage();
  let cpu = cpuAtStart;
  const held = process.memoryUsage.rss();
  let [slowestMs, peak] = [0, 0];
  for (let index = from; index < from + inputs && findings.length < MAX_FINDINGS; index++) {
    onInput?.(index);
    const { bytes, way } = await inputOf(target, seeds, seed, index);
    const report = (what: string) =>
      findings.push({ index, what, input: bytes.toString('base64') });
    ways[way].inputs += 1;
    // Asking for it takes longer than reading most inputs.
    if (index % CPU_EVERY === 0) cpu = process.cpuUsage();
    const most = mostBytes();
    const start = performance.now();
    try {
      await target.read(bytes, readerOf(seed, index));
      ways[way].read += 1;
    } catch (error) {
      if (!target.isRefusal(error)) report(described(error));
    }
    let took = performance.now() - start;
    // Where others keep the processors busy, the clock says little: no more than the processor time of a few inputs.
    if (took > LONG_MS) took = Math.min(took, cpuMs(cpu));
    slowestMs = Math.max(slowestMs, took);
    if (judgesCost) {
      if (took > MAX_CPU_MS) report(`took ${Math.round(took)} ms`);
      const more = mostBytes() - most;
      if (more > allowedBytes(target, bytes)) {
        report(`took ${Math.round(more / MIB)} MiB for ${bytes.length} bytes`);
      }
    }
    if (index % HONEST_EVERY !== HONEST_EVERY - 1) continue;
    const rss = process.memoryUsage.rss();
    peak = Math.max(peak, rss);
    if (judgesCost && rss > held + MAX_HELD_MIB * MIB) {
      report(`the process holds ${Math.round(rss / MIB)} MiB`);
    }
    const now = await honestAnswers(target, seeds);
    if (now.join('\n') !== honest.join('\n'))
      report('an honest input is read otherwise than before');
  }
  const peakMiB = Math.round(Math.max(peak, process.memoryUsage.rss()) / MIB);
  const cpuSeconds = cpuMs(cpuAtStart) / 1_000;
  return { target: target.name, ways, slowestMs, peakMiB, cpuSeconds, findings };
}

/** So an input is found that takes memory for a moment, too. */
function mostEverHeld(): number {
  return 1_024 * process.resourceUsage().maxRSS;
}

function allowedBytes({ bytesPerByte, ownMiB = GARBAGE_MIB }: Target, { length }: Buffer): number {
  return ownMiB * MIB + bytesPerByte * length;
}

function cpuMs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1_000;
}

const FIRST: Random = () => 0;

async function honestAnswers(target: Target, seeds: readonly Uint8Array[]): Promise<string[]> {
  const answers: string[] = [];
  for (const seed of seeds) {
    const answer = await Promise.resolve()
      .then(() => target.read(Buffer.from(seed), FIRST))
      .catch((error: unknown) => {
        if (target.isRefusal(error)) return 'refused';
        throw new Error(`${target.name}: a seed fails: ${described(error)}`, { cause: error });
      });
    answers.push(shown(answer));
  }
  return answers;
}

function shown(value: unknown): string {
  return (
    JSON.stringify(value, (_key, part: unknown) => {
      if (typeof part === 'bigint') return `${part}n`;
      return part instanceof Uint8Array ? Buffer.from(part).toString('base64') : part;
    }) ?? 'undefined'
  );
}

function described(error: unknown): string {
  return error instanceof Error
    ? `${error.name}: ${error.message.slice(0, 300)}\n${error.stack?.slice(0, 600)}`
    : String(error);
}
