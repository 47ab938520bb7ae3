/** Where the time of answers went, by what the runtime says of each. */
import { PARTS, type PartTimes } from './bench-run.ts';

/** Adds up `tfs-timings` of answers. */
interface PartSums {
  /** @param timings `receive:0.2;queue:0.0;decode:1.1;predict:3.0;encode:0.1` @param milliseconds as the caller saw it */
  add(timings: string | undefined, milliseconds: number): void;
  /** Mean milliseconds, undefined unless every request's answer had its times. */
  means(requests: number): PartTimes | undefined;
}

export function partSums(): PartSums {
  const sums: Record<string, number> = {};
  let told = 0;
  return {
    add(timings, milliseconds) {
      const parts = readTimings(timings);
      if (!parts) return;
      told++;
      let around = milliseconds;
      for (const [part, value] of Object.entries(parts)) {
        sums[part] = (sums[part] ?? 0) + value;
        around -= value;
      }
      sums.around = (sums.around ?? 0) + around;
    },
    means(requests) {
      if (told !== requests) return undefined;
      // The two clocks start and stop apart: on one machine `around` can come out a hair below zero.
      const mean = (part: string) => Math.max(0, (sums[part] ?? 0) / told);
      return Object.fromEntries(PARTS.map((part) => [part, mean(part)])) as PartTimes;
    },
  };
}

/** Undefined for anything but the five parts. */
function readTimings(text = ''): Readonly<Record<string, number>> | undefined {
  const pairs = text.split(';').map((pair) => pair.split(':'));
  const parts = Object.fromEntries(pairs.map(([name = '', value]) => [name, Number(value)]));
  const isWhole = PARTS.every((part) => part === 'around' || (parts[part] ?? -1) >= 0);
  return isWhole && pairs.length === PARTS.length - 1 ? parts : undefined;
}
