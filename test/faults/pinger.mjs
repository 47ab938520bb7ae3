/**
 * Asks `/ping` every 250 ms, in a process of its own, so that nobody else's work is in its times. Writes a line for each
 * answer: its milliseconds, and which share of a processor the machine has for one that wants it. What gets no answer is
 * asked again, and its time continues. Told `kept` or `new`: the connections.
 */
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const EVERY_MS = 250;
const AGAIN_MS = 20;
/** Of one attempt, in ms. */
const PATIENCE_MS = 10_000;
/** Processor time with which the share is measured, in ms. */
const WORK_MS = 20;

const [url, connections] = process.argv.slice(2);
const agent = connections === 'kept' ? new Agent({ keepAlive: true }) : false;

for (;;) {
  const since = performance.now();
  while (!(await isAnswered())) await sleep(AGAIN_MS);
  const took = performance.now() - since;
  process.stdout.write(`${took} ${shareOfProcessor()}\n`);
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

function shareOfProcessor() {
  const [start, before] = [performance.now(), process.cpuUsage()];
  for (;;) {
    const { user, system } = process.cpuUsage(before);
    const work = (user + system) / 1_000;
    if (work >= WORK_MS) return work / (performance.now() - start);
  }
}
