/** Which requests are traced, and where their spans go. */
import type { Logger } from 'pino';
import type { TraceOptions } from '../environment.ts';
import { OtlpSender } from './otlp-sender.ts';
import { exportOf, spansOf, type TracedRequest } from './spans.ts';
import { parseTraceParent, type TraceContext } from './trace-context.ts';

/** What a request says of the trace that it belongs to. */
export interface TraceHeaders {
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
}

/** Writes the spans of finished requests. */
export class Tracer {
  readonly #log: Logger | undefined;
  readonly #sender: OtlpSender | undefined;
  readonly #ratio: number;

  constructor(log: Logger, { log: toLog, otlpEndpoint, ratio }: TraceOptions) {
    // The lines must leave whatever else is silenced.
    this.#log = toLog ? log.child({}, { level: 'info' }) : undefined;
    this.#sender = otlpEndpoint === undefined ? undefined : new OtlpSender(otlpEndpoint, log);
    this.#ratio = ratio;
  }

  /** Called once for each request that is over. */
  finished(request: TracedRequest, { traceparent = '', tracestate }: TraceHeaders): void {
    const parent = parseTraceParent(traceparent, tracestate);
    if (!this.#isTraced(parent)) return;
    const spans = spansOf(request, parent);
    this.#log?.info(exportOf(spans), 'trace');
    this.#sender?.add(spans);
  }

  /** Sends what is left. */
  async close(): Promise<void> {
    await this.#sender?.close();
  }

  /** A caller decides for its own trace. */
  #isTraced(parent: TraceContext | undefined): boolean {
    return parent ? parent.sampled : Math.random() < this.#ratio;
  }
}
