/** What the thread runs that watches the main thread: see `stall-watch.ts`. */
import { writeSync } from 'node:fs';
import { Session } from 'node:inspector';
import { parentPort, workerData } from 'node:worker_threads';
import { STALL_SLOTS, STALLED, type StallThreadData } from './stall-watch.ts';

/** How long the main thread may take to answer what is in flight, in ms. */
const LAST_WORDS_MS = 2000;

const { shared, stepMs } = workerData as StallThreadData;
let seen = -1;
let silent = 0;

const timer = setInterval(() => {
  const now = Atomics.load(shared, STALL_SLOTS.beats);
  silent = now === seen ? silent + 1 : 0;
  seen = now;
  if (silent < Atomics.load(shared, STALL_SLOTS.steps)) return;
  clearInterval(timer);
  cut();
}, stepMs);

parentPort?.postMessage('watching');

/** The inspector interrupts JavaScript; where native code stands still there is no interruption. */
function cut(): void {
  setTimeout(() => {
    say('the event loop stands still in native code: this process is killed');
    kill();
  }, LAST_WORDS_MS);
  const session = new Session();
  session.connectToMainThread();
  const expression = `globalThis[Symbol.for(${JSON.stringify(STALLED)})]()`;
  session.post('Runtime.evaluate', { expression }, kill);
}

function kill(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** A line of the log, past the main thread. */
function say(msg: string): void {
  writeSync(1, `${JSON.stringify({ level: 'fatal', time: new Date().toISOString(), msg })}\n`);
}
