/** `/ping` beside the honest clients. */
import { join } from 'node:path';
import { endChild, startChild } from '../../tools/children.ts';

/** What became of those of a while. */
export interface PingTimes {
  /** Milliseconds of the slowest answer; of one that is still to come, its time until the end. */
  readonly slowestMs: number;
  /** Share of a processor that the machine had for a process that wants one: the median. */
  readonly share: number;
}

/** Answers of a while. */
export interface Pings {
  /** Ends it. */
  stop(): Promise<PingTimes>;
}

/** Between two of them, in ms. */
const EVERY_MS = 250;
/** An answer takes no longer, in ms of a processor of its own. */
const MAX_MS = 1_000;

/** Whether the slowest was late: others that keep the machine busy make each answer take longer. */
export function isLate({ slowestMs, share }: PingTimes): boolean {
  return slowestMs * share > MAX_MS;
}

const PROGRAM = join(import.meta.dirname, 'pinger.mjs');

/** Begins to ask. @param connections as the clients have them */
export async function startPings(url: string, connections: 'kept' | 'mixed'): Promise<Pings> {
  const how = connections === 'kept' ? 'kept' : 'new';
  const child = startChild(process.execPath, [PROGRAM, `${url}/ping`, how], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const shares: number[] = [];
  let [slowest, last] = [0, 0];
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error('the pinger ended')));
    child.stdout?.setEncoding('utf8').on('data', (lines: string) => {
      last = performance.now();
      for (const line of lines.trim().split('\n')) {
        const [took = 0, share = 1] = line.split(' ').map(Number);
        slowest = Math.max(slowest, took);
        shares.push(share);
      }
      resolve();
    });
  });
  // The first one connects, before the fault.
  slowest = 0;
  return {
    async stop() {
      const outstanding = performance.now() - last - EVERY_MS;
      await endChild(child);
      const middle = shares.toSorted((a, b) => a - b)[Math.floor(shares.length / 2)] ?? 1;
      return { slowestMs: Math.max(slowest, outstanding), share: middle };
    },
  };
}
