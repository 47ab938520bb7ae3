/** A closed loop of HTTP requests: so many in flight, each followed at once by the next. */
import { Pool } from 'undici';
import { type LatencySummary, summarize } from '../../cli/src/output/latency.ts';
import { cpuSeconds } from './process-stats.ts';

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
  /** CPU milliseconds of `pids` for each request; undefined where there are none. */
  readonly cpuMilliseconds: number | undefined;
}

/** A server that is silent for so long will not answer any more. */
const TIMEOUT_MS = 120_000;

/** Runs a load. @throws where an answer is not 200, with its text */
export async function runLoad(load: Load): Promise<LoadResult> {
  const pool = new Pool(load.url, {
    connections: load.inFlight,
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  });
  try {
    if (load.warmUpSeconds > 0) await loop(pool, load, load.warmUpSeconds);
    const pids = load.pids?.();
    const before = pids && cpuSeconds(pids);
    const started = performance.now();
    const { milliseconds, responseBytes } = await loop(pool, load, load.seconds);
    const seconds = (performance.now() - started) / 1_000;
    const used = pids && cpuSeconds(pids) - (before as number);
    return {
      requestsPerSecond: milliseconds.length / seconds,
      latency: summarize(milliseconds),
      responseBytes,
      cpuMilliseconds: used && (used * 1_000) / milliseconds.length,
    };
  } finally {
    await pool.destroy();
  }
}

/** Sends exactly so many requests. @throws as {@link runLoad} */
export async function sendMany(load: Load, count: number, each: (sent: number) => void) {
  const pool = new Pool(load.url, { connections: load.inFlight });
  let begun = 0;
  let done = 0;
  const one = async () => {
    while (begun++ < count) {
      await send(pool, load);
      each(++done);
    }
  };
  try {
    await Promise.all(Array.from({ length: load.inFlight }, one));
  } finally {
    await pool.destroy();
  }
}

async function loop(pool: Pool, load: Load, seconds: number) {
  const until = performance.now() + seconds * 1_000;
  const milliseconds: number[] = [];
  let responseBytes = 0;
  const one = async () => {
    do {
      const from = performance.now();
      responseBytes = await send(pool, load);
      milliseconds.push(performance.now() - from);
    } while (performance.now() < until);
  };
  await Promise.all(Array.from({ length: load.inFlight }, one));
  return { milliseconds, responseBytes };
}

/**
 * Sends one request and reads the answer to its end without keeping it. By undici's own events: promises and streams
 * around them would take as much of the processors as a fast front end does.
 */
function send(pool: Pool, load: Load): Promise<number> {
  const { path = '/invocations', headers, body } = load;
  return new Promise((resolve, reject) => {
    let status = 0;
    let bytes = 0;
    const failure: Buffer[] = [];
    pool.dispatch(
      { method: 'POST', path, headers, body },
      {
        onRequestStart() {},
        onResponseStart(_, statusCode) {
          status = statusCode;
        },
        onResponseData(_, chunk) {
          bytes += chunk.byteLength;
          if (status !== 200) failure.push(chunk);
        },
        onResponseEnd() {
          if (status === 200) resolve(bytes);
          else reject(new Error(`${load.url} answers ${status}: ${Buffer.concat(failure)}`));
        },
        onResponseError: (_, error) => reject(error),
      },
    );
  });
}
