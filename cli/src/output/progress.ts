/** Progress on stderr, unless `--quiet`: bars, and a line for each long step without figures. */
import { type Progress, showProgress } from '@sagemaker-tfs/libtensorflow/progress';
import { printable } from './printable.ts';
import { isQuiet } from './quiet.ts';

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

/** A bar that appears with the first figures: what comes before is not counted. */
export function lateProgress(label: string): Progress {
  let bar: Progress | undefined;
  const shown = () => {
    bar ??= progress(label, 0);
    return bar;
  };
  return {
    total: (total) => shown().total(total),
    update: (done, note) => shown().update(done, note),
    stop: () => bar?.stop(),
  };
}
