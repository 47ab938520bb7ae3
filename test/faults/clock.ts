/** Clock jumps, with libfaketime where it is installed. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from './ground.ts';

const PLACES = ['/usr/lib', '/usr/local/lib'];

/** The library; undefined where there is none. */
export function fakeTimeLibrary(): string | undefined {
  const folders = PLACES.filter((place) => existsSync(place)).flatMap((place) => [
    place,
    ...readdirSync(place).map((name) => join(place, name)),
  ]);
  return folders
    .map((folder) => join(folder, 'faketime', 'libfaketime.so.1'))
    .find((path) => existsSync(path));
}

/** Environment under which the processes read the offset of their clock from a file; the monotonic clock goes on. */
export function fakeTime(library: string, file: string): Record<string, string> {
  writeFileSync(file, '+0');
  return {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    DONT_FAKE_MONOTONIC: '1',
  };
}

/** An hour ahead, a day back, and right again. */
export const clockJumps: Fault = {
  name: 'the clock jumps an hour ahead and a day back',
  async happen({ tally, clock, times }) {
    for (let time = 0; time < times; time++) {
      for (const offset of ['+1h', '-1d', '+0']) {
        writeFileSync(clock, offset);
        tally.fault();
        await sleep(200);
        await tally.untilRight(40);
      }
    }
  },
};
