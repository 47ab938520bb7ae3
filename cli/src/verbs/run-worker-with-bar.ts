import type { WorkerProcess, WorkerReport } from '../batch/worker/run-worker.ts';
import { CommandError } from '../errors.ts';
import { interrupted, onInterrupt } from '../interrupt.ts';
import { progress } from '../output/progress.ts';
import { warn } from '../output/warn.ts';

/** The worker's process without what the command itself does. */
type WorkerRun = Omit<WorkerProcess, 'signal' | 'onProgress'>;

/** Aborts on Ctrl-C; what the worker has written stays. */
export function workerAbort(): AbortController {
  const abort = new AbortController();
  onInterrupt((name) => abort.abort(interrupted(name, 'Run it again to do the rest.')));
  return abort;
}

/**
 * Runs a worker to its end, and shows how far it is.
 * @throws CommandError BATCH_INCOMPLETE if a range is left; what runWorker throws
 */
export async function runWorkerWithBar(
  run: WorkerRun,
  abort = workerAbort(),
): Promise<WorkerReport> {
  const { runWorker } = await import('../batch/worker/run-worker.ts');
  const { rateMeter } = await import('../batch/rate.ts');
  // How many inputs there are is known at the end; how many ranges they are cut into is known from the start.
  const bar = progress('ranges', 0);
  const rate = rateMeter();
  const report = await runWorker({
    ...run,
    signal: abort.signal,
    onProgress({ answers, failures, gone, now, ranges, done }) {
      bar.total(ranges);
      bar.update(done, `${(answers + failures + gone).toLocaleString('en')} inputs ${rate(now)}`);
    },
  }).finally(bar.stop);
  if (report.done < report.ranges) {
    abort.signal.throwIfAborted();
    throw new CommandError(
      'BATCH_INCOMPLETE',
      `${report.done} of ${report.ranges} ranges are done. Run it again to do the rest.`,
      { details: report },
    );
  }
  if (report.ranges === 0) {
    warn('None of the ranges of this run falls to this worker: see --share, --range and --ranges');
  }
  return report;
}

/** How many inputs a run has dealt with, all together and in this process. @param what became of them: it ends in its counts */
export function describeCounts(report: WorkerReport, what: string): string {
  const { answers, failures, gone, ranges, now, seconds } = report;
  const all = answers + failures + gone;
  const deleted = gone > 0 ? `, ${gone} deleted meanwhile` : '';
  return `${what}${deleted} in ${ranges} ranges; ${now} of these ${all} now, in ${seconds.toFixed(1)} s`;
}
