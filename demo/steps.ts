/** Prints the demo's steps as they go: what is done, how long it took, what came of it. */
import type { TimedStep } from 'sagemaker-tfs/development/report';

const started = performance.now();

/** Runs one step. */
export type Step = <T>(
  title: string,
  work: () => Promise<T>,
  result: (value: T) => string,
) => Promise<T>;

/** Steps that ended, in their order. */
export const timeline: TimedStep[] = [];

/** Prints each step's title before it, and its result and time after; `signal` ends the demo between two. */
export function stepper(signal: AbortSignal): Step {
  let number = 0;
  return async (title, work, result) => {
    number++;
    process.stderr.write(`[${number}] ${title}\n`);
    const from = performance.now();
    const value = await work();
    signal.throwIfAborted();
    const seconds = (performance.now() - from) / 1_000;
    timeline.push({ name: title, from: (from - started) / 1_000, seconds });
    process.stderr.write(`    ${result(value)} (${seconds.toFixed(1)} s)\n`);
    return value;
  };
}

/** Seconds since the program started. */
export function elapsedSeconds(): number {
  return (performance.now() - started) / 1_000;
}
