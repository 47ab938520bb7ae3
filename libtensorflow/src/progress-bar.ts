/** Shows people how far the fetch of the library is. */
import cliProgress from 'cli-progress';
import type { FetchProgress } from './fetch/fetch-library.ts';

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

/** Percent between two lines where there is no terminal. */
const LINE_STEP = 20;

/** A bar for each stage on a terminal, else a line now and then. */
export function progressBar(stream: NodeJS.WriteStream = process.stderr): ProgressBar {
  return stream.isTTY ? terminalBar(stream) : plainLines(stream);
}

function terminalBar(stream: NodeJS.WriteStream): ProgressBar {
  let stage: FetchProgress['stage'] | undefined;
  let bar: cliProgress.SingleBar | undefined;
  const stop = () => {
    bar?.stop();
    process.removeListener('exit', stop);
  };
  // Whatever ends the process: lines wrap again.
  process.once('exit', stop);
  return {
    onProgress(progress) {
      if (progress.stage !== stage) {
        bar?.stop();
        stage = progress.stage;
        bar = new cliProgress.SingleBar({
          stream,
          format: `${LABELS[stage]} {bar} {percentage}% of {size}`,
          barCompleteChar: '█',
          barIncompleteChar: '░',
          // It would take SIGINT from the program, which then could not be interrupted.
          gracefulExit: false,
        });
        bar.start(progress.total ?? 0, progress.done, { size: megabytes(progress.total ?? 0) });
      }
      bar?.update(progress.done);
    },
    stop,
  };
}

function plainLines(stream: NodeJS.WritableStream): ProgressBar {
  let last = '';
  return {
    onProgress({ stage, done, total }) {
      const percent = total ? Math.floor((100 * done) / total / LINE_STEP) * LINE_STEP : 0;
      const line = `${LABELS[stage].trim()}: ${percent}% of ${megabytes(total ?? 0)}\n`;
      if (line !== last) stream.write(line);
      last = line;
    },
    stop() {},
  };
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}
