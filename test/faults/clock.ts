/** Clock jumps, with libfaketime where it is installed. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from './ground.ts';

const PLACES = ['/usr/lib', '/usr/local/lib'];

/** The library; undefined if there is none. */
export function fakeTimeLibrary(): string | undefined {
  const folders = PLACES.filter((place) => existsSync(place)).flatMap((place) => [
    place,
    ...readdirSync(place).map((name) => join(place, name)),
  ]);
  return folders
    .map((folder) => join(folder, 'faketime', 'libfaketime.so.1'))
    .find((path) => existsSync(path));
}

/** Environment under which the processes read the offset of their clock from a file; the monotonic clock continues. */
export function fakeTime(library: string, file: string): Record<string, string> {
  writeFileSync(file, '+0');
  return {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    DONT_FAKE_MONOTONIC: '1',
  };
}

const HOUR_MS = 3_600_000;
/** How far the clock of the runtime is from the right one, at each offset. */
const JUMPS: Readonly<Record<string, number>> = { '+1h': HOUR_MS, '-1d': -24 * HOUR_MS, '+0': 0 };

/** Of the answers' Date, which Node makes once a second. */
const PATIENCE_MS = 5_000;

/** @throws Error where the answers' Date says that the jump did not happen */
async function sees(url: string, offset: string): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    const response = await fetch(`${url}/ping`);
    await response.arrayBuffer();
    const off = Date.parse(response.headers.get('date') ?? '') - Date.now();
    if (Math.abs(off - (JUMPS[offset] as number)) < HOUR_MS / 2) return;
    if (performance.now() > end) throw new Error(`the clock is off by ${off} ms at ${offset}`);
    await sleep(100);
  }
}

/** An hour ahead, a day back, and right again. */
export const clockJumps: Fault = {
  name: 'the clock jumps an hour ahead and a day back',
  async happen({ served, tally, clock, times }) {
    for (let time = 0; time < times; time++) {
      for (const offset of Object.keys(JUMPS)) {
        writeFileSync(clock, offset);
        await sleep(200);
        tally.fault();
        await sees(served.url, offset);
        await tally.untilRight(40);
      }
    }
  },
};
