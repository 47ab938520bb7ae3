/** Shows people how far the fetch of the library is. */
import { type Progress, showProgress } from '../progress.ts';
import type { FetchProgress } from './fetch-library.ts';

/** To be given to `ensureLibrary({ onProgress: bar.onProgress })`. */
export interface ProgressBar {
  onProgress(progress: FetchProgress): void;
  /** Leaves the terminal as it was; to be called in any case, also where nothing was reported. */
  stop(): void;
}

const LABELS: Readonly<Record<FetchProgress['stage'], string>> = {
  download: 'Downloading TensorFlow',
  verify: 'Checking the download ',
  unpack: 'Unpacking the library ',
};

/** A bar for each stage on a terminal, else a line now and then. */
export function progressBar(stream: NodeJS.WriteStream = process.stderr): ProgressBar {
  let stage: FetchProgress['stage'] | undefined;
  let bar: Progress | undefined;
  return {
    onProgress(progress) {
      if (progress.stage !== stage) {
        bar?.stop();
        stage = progress.stage;
        bar = showProgress(LABELS[stage], megabytes(progress.total ?? 0), stream);
      }
      bar?.update(megabytes(progress.done), 'MB');
    },
    stop: () => bar?.stop(),
  };
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1e6);
}
