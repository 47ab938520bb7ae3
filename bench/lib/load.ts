/** A closed loop of HTTP requests: a fixed number in flight, each followed at once by the next. */
import { type LatencySummary, summarize } from 'sagemaker-tfs/development/output';
import { cpuSeconds } from '../../tools/process-stats.ts';
import { KeptConnection } from './kept-connection.ts';

/** What to send, and for how long. */
export interface Load {
  readonly url: string;
  /** Default: `/invocations`. */
  readonly path?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly inFlight: number;
  /** Seconds measured, after `warmUpSeconds` that are not. */
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** Processes whose CPU time is counted. */
  readonly pids?: () => number[];
}

/** What came back. */
export interface LoadResult {
  readonly requestsPerSecond: number;
  /** Milliseconds. */
  readonly latency: LatencySummary;
  /** Bytes of one response body. */
  readonly responseBytes: number;
  /** CPU milliseconds of `pids` for each request; undefined if there are none. */
  readonly cpuMilliseconds: number | undefined;
}

/** A server that is silent for so long will not answer any more. */
const TIMEOUT_MS = 120_000;

/** Runs a load. @throws where an answer is not 200, with its text */
export async function runLoad(load: Load): Promise<LoadResult> {
  const connections = connect(load);
  try {
    if (load.warmUpSeconds > 0) await loop(connections, load, load.warmUpSeconds);
    const pids = load.pids?.();
    const before = pids && cpuSeconds(pids);
    const started = performance.now();
    const { milliseconds, responseBytes } = await loop(connections, load, load.seconds);
    const seconds = (performance.now() - started) / 1_000;
    const used = pids && cpuSeconds(pids) - (before as number);
    return {
      requestsPerSecond: milliseconds.length / seconds,
      latency: summarize(milliseconds),
      responseBytes,
      cpuMilliseconds: used && (used * 1_000) / milliseconds.length,
    };
  } finally {
    for (const connection of connections) connection.close();
  }
}

/** Sends exactly that number of requests. @throws as {@link runLoad} */
export async function sendMany(load: Load, count: number, each: (sent: number) => void) {
  const connections = connect(load);
  let begun = 0;
  let done = 0;
  try {
    await Promise.all(
      connections.map(async (connection) => {
        while (begun++ < count) {
          await send(connection, load);
          each(++done);
        }
      }),
    );
  } finally {
    for (const connection of connections) connection.close();
  }
}

function connect({ url, path = '/invocations', headers, body, inFlight }: Load): KeptConnection[] {
  const request = { url, path, headers, body, timeoutMs: TIMEOUT_MS };
  return Array.from({ length: inFlight }, () => new KeptConnection(request));
}

async function loop(connections: readonly KeptConnection[], load: Load, seconds: number) {
  const until = performance.now() + seconds * 1_000;
  const milliseconds: number[] = [];
  let responseBytes = 0;
  await Promise.all(
    connections.map(async (connection) => {
      do {
        const from = performance.now();
        responseBytes = await send(connection, load);
        milliseconds.push(performance.now() - from);
      } while (performance.now() < until);
    }),
  );
  return { milliseconds, responseBytes };
}

/** @returns bytes of the answer's body */
async function send(connection: KeptConnection, { url }: Load): Promise<number> {
  const { status, bytes, text } = await connection.ask();
  if (status !== 200) throw new Error(`${url} answers ${status}: ${text}`);
  return bytes;
}
