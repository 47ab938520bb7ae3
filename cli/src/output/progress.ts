/** Progress on stderr, unless `--quiet`: bars, and a line for each long step without figures. */
import { type Progress, redraws, showProgress } from '@sagemaker-tfs/libtensorflow/progress';
import { printable } from './printable.ts';
import { isQuiet } from './quiet.ts';
import { fitted, styleOf } from './style.ts';

export type { Progress };

const SILENT: Progress = { update() {}, total() {}, stop() {} };

/** Shows `label` with a bar until `stop`; nothing with `--quiet`. */
export function progress(label: string, total: number): Progress {
  return isQuiet() ? SILENT : showProgress(label, total);
}

/** Says what begins and may take a while. */
export function sayStep(what: string): void {
  if (!isQuiet()) process.stderr.write(`  ${printable(what)} ...\n`);
}

/** Milliseconds until a terminal shows what it waits for. */
const PATIENCE = 500;
const CLEAR_LINE = '\r\x1b[K';

/** A line in a terminal that says what is waited for, once that takes half a second. It is gone afterwards, if the terminal can. */
export async function whileWaiting<T>(what: string, work: () => Promise<T>): Promise<T> {
  const { stderr } = process;
  if (isQuiet() || !stderr.isTTY) return work();
  let isShown = false;
  const timer = setTimeout(() => {
    isShown = redraws(stderr);
    stderr.write(fitted(`  ${what} ...`, styleOf(stderr).width - 1) + (isShown ? '' : '\n'));
  }, PATIENCE);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
    if (isShown) stderr.write(CLEAR_LINE);
  }
}

/** A bar that appears once there is something to count: before, `0/0` would say nothing. */
export function lateProgress(label: string): Progress {
  let bar: Progress | undefined;
  return {
    total(total) {
      if (bar) bar.total(total);
      else if (total > 0) bar = progress(label, total);
    },
    update: (done, note) => bar?.update(done, note),
    stop: () => bar?.stop(),
  };
}
