/**
 * Whose answer is given up where others need its room: clients that read slowly may keep a share of what a process takes
 * on. Without a bound of its own, a few of them would hold all of it for as long as they like.
 */
import type { Admission, Ticket } from './admission.ts';
import type { Pacer } from './client-pace.ts';

/** A request as it is looked at. */
export interface Reader {
  readonly pacer: Pacer;
  /** Undefined until it is admitted. */
  readonly ticket: () => Ticket | undefined;
}

/** Part of the bytes, and of the requests, that answers may hold while they wait for their readers. */
const READERS_PART = 1 / 2;

/** The slowest reader; undefined if they hold no more than their share. */
export function slowestReader<T extends Reader>(
  all: Iterable<T>,
  { limits }: Admission,
  now: number,
): T | undefined {
  let slowest: { readonly reader: T; readonly rate: number } | undefined;
  let requests = 0;
  let bytes = 0;
  for (const reader of all) {
    const rate = reader.pacer.readingRate(now);
    const held = reader.ticket()?.heldBytes ?? 0;
    if (rate === undefined || held === 0) continue;
    requests += 1;
    bytes += held;
    if (!slowest || rate < slowest.rate) slowest = { reader, rate };
  }
  const isBeyond =
    bytes > limits.maxHeldBytes * READERS_PART || requests > limits.maxRequests * READERS_PART;
  return isBeyond ? slowest?.reader : undefined;
}
