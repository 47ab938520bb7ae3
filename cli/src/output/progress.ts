/** Progress on stderr: a live bar on a terminal, a line now and then elsewhere. */
import cliProgress, { type Options } from 'cli-progress';
import { isQuiet } from './quiet.ts';

/** A counter towards a total. */
export interface Progress {
  /** Sets what is done so far; `note` is shown behind the figures. */
  update(done: number, note?: string): void;
  /** Changes the total once it is known. */
  total(total: number): void;
  stop(): void;
}

const BAR: Options = {
  format: '  {label} {bar} {percentage}% {value}/{total} {note}',
  barCompleteChar: '█',
  barIncompleteChar: '░',
  hideCursor: true,
  clearOnComplete: false,
  stream: process.stderr,
  // It would take SIGINT from the program, which then could not be interrupted.
  gracefulExit: false,
};

/** Milliseconds between lines where stderr is no terminal. */
const LINE_EVERY = 5_000;

const SILENT: Progress = { update() {}, total() {}, stop() {} };

/** Shows `label` with a bar until `stop`; nothing with `--quiet`. */
export function progress(label: string, total: number): Progress {
  if (isQuiet()) return SILENT;
  return process.stderr.isTTY ? liveBar(label, total) : plainLines(label, total);
}

function liveBar(label: string, total: number): Progress {
  const bar = new cliProgress.SingleBar(BAR);
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

function plainLines(label: string, total: number): Progress {
  let known = total;
  let last = { at: Date.now(), done: 0, note: '' };
  // Where nothing was begun, there is nothing to tell.
  let printed = 0;
  const print = () => {
    if (printed === last.done) return;
    printed = last.done;
    process.stderr.write(`  ${label} ${last.done}/${known} ${last.note}\n`);
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
