/** Asks a URL for `/ping` every few milliseconds for some seconds, and prints the latencies in milliseconds as JSON. */
import { setTimeout as sleep } from 'node:timers/promises';
import { KeptConnection } from '../lib/kept-connection.ts';

const EVERY_MS = 10;
/** Before what is counted: this program, and what it asks, run for the first time. */
const WARM_UP_SECONDS = 1;

async function main(url: string, seconds: number): Promise<void> {
  const connection = new KeptConnection({
    method: 'GET',
    url,
    path: '/ping',
    headers: {},
    body: new Uint8Array(0),
    timeoutMs: 120_000,
  });
  const counted = performance.now() + WARM_UP_SECONDS * 1_000;
  const until = counted + seconds * 1_000;
  const milliseconds: number[] = [];
  for (let from = performance.now(); from < until; from = performance.now()) {
    const { status, text } = await connection.ask();
    if (status !== 200) throw new Error(`/ping answers ${status}: ${text}`);
    const now = performance.now();
    if (now >= counted) milliseconds.push(now - from);
    await sleep(EVERY_MS);
  }
  connection.close();
  process.stdout.write(JSON.stringify(milliseconds));
}

const [url = '', seconds = '1'] = process.argv.slice(2);
void main(url, Number(seconds));
