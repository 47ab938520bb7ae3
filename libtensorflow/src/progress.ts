/** Progress on stderr: a live bar where lines can be drawn over, a line now and then elsewhere. */
import cliProgress from 'cli-progress';

/** A counter towards a total. */
export interface Progress {
  /** Sets what is done so far; `note` is shown behind the figures. */
  update(done: number, note?: string): void;
  /** Changes the total once it is known. */
  total(total: number): void;
  /** Leaves the terminal as it was; to be called in any case. */
  stop(): void;
}

/** Columns of the bar, so that a line with rate, time left and failures fits 80 columns. */
const BAR = 20;
const FULL = '█';
const EMPTY = '░';
/** Milliseconds between lines where the stream is no terminal. */
const LINE_EVERY = 5_000;

/** Whether the terminal says that it draws nothing over, or is read out. */
export function isDumb(environment = process.env): boolean {
  return environment.TERM === 'dumb';
}

/** Whether lines can be drawn over: on a terminal that is not dumb. */
export function redraws(stream: NodeJS.WriteStream, environment = process.env): boolean {
  return stream.isTTY === true && !isDumb(environment);
}

/** Shows `label` with a bar until `stop`. With a total of 0, which is one that is not known yet, only what is done is shown. */
export function showProgress(
  label: string,
  total: number,
  stream: NodeJS.WriteStream = process.stderr,
): Progress {
  return redraws(stream) ? liveBar(label, total, stream) : plainLines(label, total, stream);
}

function liveBar(label: string, total: number, stream: NodeJS.WriteStream): Progress {
  const bar = new cliProgress.SingleBar({
    format: (_, { progress, value, total }, { label, note }) => {
      const full = Math.round(progress * BAR);
      const bar = FULL.repeat(full) + EMPTY.repeat(BAR - full);
      const figures = total > 0 ? `${bar} ${Math.floor(100 * progress)}% ` : '';
      return `  ${label} ${figures}${counted(value, total)} ${note}`;
    },
    hideCursor: true,
    stream,
    // It would take SIGINT from the program, which then could not be interrupted.
    gracefulExit: false,
  });
  bar.start(total, 0, { label, note: '' });
  const stop = () => {
    bar.stop();
    process.removeListener('exit', stop);
  };
  // Whatever ends the process: the cursor is shown again, and lines wrap.
  process.once('exit', stop);
  return {
    update: (done, note = '') => bar.update(done, { note }),
    total: (next) => bar.setTotal(next),
    stop,
  };
}

const counted = (done: number, total: number) =>
  total > 0 ? `${done}/${total}` : `${done || '...'}`;

function plainLines(label: string, total: number, stream: NodeJS.WritableStream): Progress {
  let known = total;
  let last = { at: Date.now(), done: 0, note: '' };
  // Where nothing was begun, there is nothing to tell.
  let printed = 0;
  const print = () => {
    if (printed === last.done) return;
    printed = last.done;
    stream.write(`  ${label} ${counted(last.done, known)} ${last.note}`.trimEnd().concat('\n'));
  };
  return {
    update(done, note = '') {
      const due = Date.now() - last.at >= LINE_EVERY;
      last = { at: due ? Date.now() : last.at, done, note };
      if (due) print();
    },
    total(next) {
      known = next;
    },
    stop: print,
  };
}
