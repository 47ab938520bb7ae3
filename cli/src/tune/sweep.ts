/** Goes through the settings, one after another, and measures each. */
import type { Target } from '@sagemaker-tfs/client';
import { sayStep } from '../output/progress.ts';
import { prepareModelRoot } from '../serving/model-root.ts';
import { type RuntimeOptions, startRuntime } from '../serving/runtime-process.ts';
import { measure, type Samples } from './load.ts';
import { type Point, type ServerSettings, variablesOf } from './point.ts';
import { trySamples } from './try-samples.ts';

/** What to go through. */
interface Sweep {
  readonly samples: Samples;
  readonly concurrencies: readonly number[];
  readonly batchSizes: readonly number[];
  /** Seconds of each measurement. */
  readonly seconds: number;
  readonly signal: AbortSignal;
  readonly onPoint?: (point: Point) => void;
}

/** Powers of two up to a number, which is the last. */
export function powersOfTwo(most: number): number[] {
  const powers: number[] = [];
  for (let power = 1; power < most; power *= 2) powers.push(power);
  return [...powers, most];
}

/** Measures something that is serving already. @throws CommandError TUNE_FAILED if a sample is refused */
export async function sweepTarget(
  where: string,
  target: Target,
  sweep: Sweep,
  server?: ServerSettings,
): Promise<Point[]> {
  await trySamples(target, sweep.samples, sweep.signal);
  const points: Point[] = [];
  for (const batchSize of sweep.batchSizes) {
    for (const concurrency of sweep.concurrencies) {
      const settings = { concurrency, batchSize, seconds: sweep.seconds };
      const measured = await measure(target, sweep.samples, settings, sweep.signal);
      const point = { where, ...(server && { server }), batchSize, concurrency, ...measured };
      points.push(point);
      sweep.onPoint?.(point);
    }
  }
  return points;
}

/** Starts the runtime with each of the settings, and measures. */
export async function sweepModel(
  model: {
    readonly source: string;
    readonly handler?: string;
    /** Takes the runtime's log. */
    readonly log: RuntimeOptions['log'];
  },
  servers: readonly ServerSettings[],
  sweep: Sweep,
): Promise<Point[]> {
  const root = await prepareModelRoot(model.source, model.handler, { onStep: sayStep });
  const points: Point[] = [];
  try {
    for (const server of servers) {
      const runtime = await startRuntime({
        modelDirectory: root.directory,
        environment: { SAGEMAKER_TFS_LOG_LEVEL: 'warn', ...variablesOf(server) },
        log: model.log,
        signal: sweep.signal,
      });
      const measured = sweepTarget('local', { url: runtime.url }, sweep, server);
      points.push(...(await measured.finally(runtime.stop)));
    }
  } finally {
    await root.cleanUp();
  }
  return points;
}
