/**
 * Asks `/ping` every 250 ms, in a process of its own, so that nobody else's work is in its times. Writes the milliseconds
 * of each answer, a line each; what gets no answer is asked again, and its time goes on. Told `kept` or `new`: the
 * connections.
 */
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const EVERY_MS = 250;
const AGAIN_MS = 20;
/** Of one attempt, in ms. */
const PATIENCE_MS = 10_000;

const [url, connections] = process.argv.slice(2);
const agent = connections === 'kept' ? new Agent({ keepAlive: true }) : false;

for (;;) {
  const since = performance.now();
  while (!(await isAnswered())) await sleep(AGAIN_MS);
  const took = performance.now() - since;
  process.stdout.write(`${took}\n`);
  await sleep(Math.max(0, EVERY_MS - took));
}

function isAnswered() {
  return new Promise((resolve) => {
    const request = get(url, { agent, timeout: PATIENCE_MS }, (response) => {
      response.resume().once('end', () => resolve(true));
      response.once('error', () => resolve(false));
    });
    request.once('timeout', () => request.destroy());
    request.once('error', () => resolve(false));
  });
}
