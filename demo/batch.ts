/** The batch half of the demo: 10,000 digits as image objects, transformed. */
import { readdir } from 'node:fs/promises';
import * as z from 'zod';
import { runCommand } from './command.ts';

/** Digits of MNIST's test set. */
export const BATCH_SIZE = 10_000;
/** Requests in flight, as the batch paper tuned it. */
const MAX_CONCURRENT_TRANSFORMS = 64;
/** Milliseconds between two points of the throughput chart. */
const SAMPLE_EVERY = 250;

const jobSchema = z.object({
  done: z.number(),
  failed: z.number(),
  seconds: z.number(),
  maxConcurrentTransforms: z.number(),
});

/** What the job did and how fast, over time. */
export interface BatchRun {
  readonly job: z.output<typeof jobSchema>;
  /** [seconds since the start, images a second since the point before]. */
  readonly rate: readonly (readonly [number, number])[];
}

/** Runs `batch local` over a folder of images. */
export async function runBatch(
  url: string,
  directories: { readonly input: string; readonly output: string },
  signal: AbortSignal,
): Promise<BatchRun> {
  const { input, output } = directories;
  const args = ['batch', 'local', input, '--out', output, '--url', url];
  args.push('--content-type', 'application/x-image');
  args.push('--max-concurrent-transforms', String(MAX_CONCURRENT_TRANSFORMS));
  const rate = watchOutputs(output);
  try {
    const job = await runCommand(args, jobSchema, signal);
    return { job, rate: rate.points };
  } finally {
    rate.stop();
  }
}

/** Counts outputs now and then. */
function watchOutputs(directory: string) {
  const points: [number, number][] = [];
  const started = performance.now();
  let last = { at: started, done: 0 };
  const look = async () => {
    const names = await readdir(directory).catch(() => []);
    const done = names.filter((name) => name.endsWith('.out')).length;
    const now = performance.now();
    if (done === last.done) return;
    points.push([(now - started) / 1_000, ((done - last.done) * 1_000) / (now - last.at)]);
    last = { at: now, done };
  };
  const timer = setInterval(look, SAMPLE_EVERY);
  return { points, stop: () => clearInterval(timer) };
}
