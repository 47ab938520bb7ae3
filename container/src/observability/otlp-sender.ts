/** Sends spans to a collector by OTLP over HTTP, beside the requests: what it does not take is dropped. */
import type { Logger } from 'pino';
import { exportOf, type Span } from './spans.ts';

/** Spans that are sent in one request. */
const BATCH = 512;
/** Spans that wait while a collector is slow or gone; more are dropped. */
const MAX_PENDING = 8192;
const FLUSH_INTERVAL_MS = 1000;
const TIMEOUT_MS = 5000;
/** Milliseconds between two lines of the log about the same trouble. */
const SILENCE_MS = 60_000;

/** A collector and the spans on their way to it. */
export class OtlpSender {
  readonly #url: string;
  readonly #log: Logger;
  readonly #timer: NodeJS.Timeout;
  #pending: Span[] = [];
  #sending: Promise<void> | undefined;
  #dropped = 0;
  #lastWarning = Number.NEGATIVE_INFINITY;

  /** @param endpoint base address of the collector, such as `http://collector:4318` */
  constructor(endpoint: string, log: Logger) {
    this.#url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
    this.#log = log;
    this.#timer = setInterval(() => this.#send(), FLUSH_INTERVAL_MS).unref();
  }

  add(spans: readonly Span[]): void {
    if (this.#pending.length + spans.length > MAX_PENDING) {
      this.#dropped += spans.length;
      this.#warn('the collector takes fewer spans than there are');
      return;
    }
    this.#pending.push(...spans);
    if (this.#pending.length >= BATCH) this.#send();
  }

  /** Sends what is left, for as long as one request may take, and ends. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sending;
    this.#send();
    await this.#sending;
  }

  /** One request at a time: a slow collector gets larger ones, not more. */
  #send(): void {
    if (this.#sending || this.#pending.length === 0) return;
    const spans = this.#pending;
    this.#pending = [];
    this.#sending = this.#post(spans).finally(() => {
      this.#sending = undefined;
    });
  }

  async #post(spans: readonly Span[]): Promise<void> {
    try {
      const response = await fetch(this.#url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(exportOf(spans)),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      await response.arrayBuffer();
      if (response.ok) return;
      this.#dropped += spans.length;
      this.#warn(`the collector answered ${response.status}`);
    } catch (error) {
      this.#dropped += spans.length;
      this.#warn(`the collector cannot be reached: ${(error as Error).message}`);
    }
  }

  #warn(reason: string): void {
    const now = performance.now();
    if (now - this.#lastWarning < SILENCE_MS) return;
    this.#lastWarning = now;
    this.#log.warn(
      { collector: this.#url, dropped: this.#dropped },
      `spans are dropped: ${reason}`,
    );
    this.#dropped = 0;
  }
}
