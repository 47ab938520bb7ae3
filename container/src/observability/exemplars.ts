/** The newest request of each bucket of a histogram of times. */
import type { Exemplar, MetricJson } from './open-metrics.ts';

/**
 * An id that every parser of OpenMetrics reads: quotes and backslashes are legal and stop Python's, and name and value may have
 * 128 characters together.
 */
const PLAIN_ID = /^[\w.:;,/+=@ -]{1,118}$/;

/** A request that fell into a bucket. */
interface Seen {
  readonly requestId: string;
  readonly seconds: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Keeps one request a bucket. */
export class Exemplars {
  readonly #bounds: readonly number[];
  /** By model and part, then by bucket. */
  readonly #seen = new Map<string, (Seen | undefined)[]>();

  /** @param bounds upper bounds of the buckets but the last, in seconds, ascending */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
  }

  note(model: string, part: string, seconds: number, requestId: string, at: number): void {
    if (!PLAIN_ID.test(requestId)) return;
    const key = `${part} ${model}`;
    let buckets = this.#seen.get(key);
    if (!buckets) {
      buckets = new Array<Seen | undefined>(this.#bounds.length + 1);
      this.#seen.set(key, buckets);
    }
    const bucket = this.#bounds.findIndex((bound) => seconds <= bound);
    buckets[bucket < 0 ? this.#bounds.length : bucket] = { requestId, seconds, at };
  }

  /** Adds them to the buckets of a histogram with the labels `model`, `part` and `le`. */
  addTo({ values }: MetricJson): void {
    for (const sample of values) {
      const { model, part, le } = sample.labels;
      if (le === undefined) continue;
      const bucket = le === '+Inf' ? this.#bounds.length : this.#bounds.indexOf(Number(le));
      const seen = this.#seen.get(`${part} ${model}`)?.[bucket];
      if (seen) sample.exemplar = exemplarOf(seen);
    }
  }
}

function exemplarOf({ requestId, seconds, at }: Seen): Exemplar {
  return { labelSet: { request_id: requestId }, value: seconds, timestamp: at / 1000 };
}
