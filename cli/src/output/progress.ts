/** Progress on stderr, unless `--quiet`. */
import { type Progress, showProgress } from '@sagemaker-tfs/libtensorflow/progress';
import { isQuiet } from './quiet.ts';

export type { Progress };

const SILENT: Progress = { update() {}, total() {}, stop() {} };

/** Shows `label` with a bar until `stop`; nothing with `--quiet`. */
export function progress(label: string, total: number): Progress {
  return isQuiet() ? SILENT : showProgress(label, total);
}
