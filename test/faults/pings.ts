/** `/ping` beside the honest clients. */
import { join } from 'node:path';
import { endChild, startChild } from '../../tools/children.ts';

/** Answers of a while. */
export interface Pings {
  /** Ends it. @returns milliseconds of the slowest answer; of one that is still to come, its time until now */
  stop(): Promise<number>;
}

const PROGRAM = join(import.meta.dirname, 'pinger.mjs');

/** Begins to ask. @param connections as the clients have them */
export async function startPings(url: string, connections: 'kept' | 'mixed'): Promise<Pings> {
  const how = connections === 'kept' ? 'kept' : 'new';
  const child = startChild(process.execPath, [PROGRAM, `${url}/ping`, how], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let [slowest, last] = [0, 0];
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error('the pinger ended')));
    child.stdout?.setEncoding('utf8').on('data', (lines: string) => {
      last = performance.now();
      slowest = Math.max(slowest, ...lines.split('\n').map(Number));
      resolve();
    });
  });
  // The first one connects, before the fault.
  slowest = 0;
  return {
    async stop() {
      const outstanding = performance.now() - last - EVERY_MS;
      await endChild(child);
      return Math.max(slowest, outstanding);
    },
  };
}

/** Between two of them, in ms. */
const EVERY_MS = 250;
