/** Pictures over HTTP to the runtime, as SageMaker sends them: JPEG in, JSON out. */
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { startRuntime } from 'sagemaker-tfs/development/runtime';
import { runLoad } from '../../bench/lib/load.ts';
import { median } from '../../bench/lib/median.ts';
import { smallPicture } from '../../bench/lib/pictures.ts';
import { removeDirectory, temporaryDirectory } from '../../bench/lib/temporary.ts';
import { processTree } from '../../tools/process-stats.ts';
import { utilization } from './nvidia.ts';
import type { ServedRow } from './page.ts';

/** One way to serve a model. */
export interface Serving {
  readonly name: string;
  /** Folder of the model. */
  readonly model: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly inFlight: readonly number[];
}

/** Seconds that a driver may take to compile a library's kernels for a newer GPU, once. */
const READY_SECONDS = 240;
const LOOK_EVERY_MS = 100;
/** Windows before the first that counts: batches of every size are met, and what is compiled is compiled. */
const WARM_UP_WINDOWS = 2;

/** Measures it at each number in flight. */
export async function serve(
  { name, model, environment, inFlight }: Serving,
  seconds: number,
): Promise<ServedRow[]> {
  const directory = temporaryDirectory();
  const log = join(directory, 'runtime.log');
  cpSync(join(model, 'model'), join(directory, 'model'), { recursive: true });
  try {
    const runtime = await startRuntime({
      modelDirectory: directory,
      log,
      readyTimeoutSeconds: READY_SECONDS,
      environment: { SAGEMAKER_TFS_LOG_LEVEL: 'warn', ...environment },
    });
    try {
      const rows: ServedRow[] = [];
      const body = await smallPicture();
      const headers = { 'content-type': 'application/x-image' };
      for (const count of inFlight) {
        const load = { url: runtime.url, headers, body, inFlight: count };
        await runLoad({ ...load, seconds: seconds * WARM_UP_WINDOWS, warmUpSeconds: 0 });
        const looks: number[] = [];
        const timer = setInterval(() => looks.push(utilization() ?? 0), LOOK_EVERY_MS);
        const pids = () => processTree(runtime.pid);
        const result = await runLoad({ ...load, seconds, warmUpSeconds: 0, pids });
        clearInterval(timer);
        rows.push({
          name,
          inFlight: count,
          perSecond: result.requestsPerSecond,
          p50: result.latency.p50,
          p95: result.latency.p95,
          cpu: result.cpuMilliseconds ?? 0,
          start: runtime.startMilliseconds / 1_000,
          ...(utilization() !== undefined && looks.length > 0 && { busy: median(looks) }),
        });
      }
      return rows;
    } finally {
      await runtime.stop();
    }
  } catch (error) {
    const tail = existsSync(log) ? readFileSync(log, 'utf8').slice(-1_500) : '';
    throw new Error(`${(error as Error).message}\n${tail}`);
  } finally {
    removeDirectory(directory);
  }
}

/** TensorFlow Serving's program, where it is on PATH. */
export function modelServer(): string | undefined {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .map((directory) => join(directory, 'tensorflow_model_server'))
    .find((path) => existsSync(path));
}
