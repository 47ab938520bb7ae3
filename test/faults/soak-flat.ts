/** Whether what a steady load costs stays as it was: the last third of the minutes against the first. */

/** Figures of a minute. */
export interface Cost {
  readonly memoryMiB: number;
  readonly descriptors: number;
  readonly handles: number;
  /** Milliseconds. */
  readonly p50: number;
}

interface Bound {
  readonly what: string;
  readonly of: (cost: Cost) => number;
  readonly most: (first: number) => number;
}

/** A runtime keeps what it once needed; connections come and go. */
const BOUNDS: readonly Bound[] = [
  { what: 'memory, MiB', of: ({ memoryMiB }) => memoryMiB, most: (first) => 1.1 * first + 16 },
  { what: 'descriptors', of: ({ descriptors }) => descriptors, most: (first) => first + 8 },
  { what: 'handles', of: ({ handles }) => handles, most: (first) => first + 8 },
  { what: 'P50, ms', of: ({ p50 }) => p50, most: (first) => 1.5 * first + 1 },
];

/** The bounds, for readers. */
export const FLAT =
  'memory 10% and 16 MiB more, descriptors and handles 8 more, P50 half more and 1 ms';

/** @returns what is not flat, in words; nothing for fewer than three minutes */
export function unflat(minutes: readonly Cost[]): string[] {
  const third = Math.floor(minutes.length / 3);
  if (third === 0) return [];
  return BOUNDS.flatMap(({ what, of, most }) => {
    const first = median(minutes.slice(0, third).map(of));
    const last = median(minutes.slice(-third).map(of));
    return last > most(first) ? [`${what}: ${last.toFixed(1)}, was ${first.toFixed(1)}`] : [];
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] as number;
}
