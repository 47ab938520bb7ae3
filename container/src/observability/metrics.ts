/** Metrics of this process in the Prometheus text format. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { containerMemory, usedContainerMemory } from '../container-memory.ts';
import { Exemplars } from './exemplars.ts';
import { boundedLabel, mediaTypeLabel } from './labels.ts';
import type { MetricsFormat, MetricsPage } from './metrics-page.ts';
import { type MetricJson, openMetricsText } from './open-metrics.ts';
import { addReadyGauge } from './ready-gauge.ts';
import type { Timings } from './timings.ts';

/** A finished request as the metrics see it. Times are milliseconds, sizes bytes. */
export interface RequestSample {
  readonly requestId: string;
  /** Undefined if the request was refused before its model was known. */
  readonly model: string | undefined;
  /** Version that answered, or that was asked for; undefined if none was named. */
  readonly version: string | undefined;
  readonly transport: string | undefined;
  /** `Content-Type` of the request, as it came. */
  readonly contentType: string | undefined;
  readonly status: number;
  /** Code of the answer where it is an error. */
  readonly errorCode?: string | undefined;
  readonly requestBytes: number | undefined;
  readonly responseBytes: number;
  readonly timings: Timings;
}

/** A batch that ran in this process. */
export interface BatchSample {
  readonly model: string;
  /** Requests joined. */
  readonly requests: number;
  /** Their rows. */
  readonly rows: number;
  /** Rows added to reach an allowed size. */
  readonly padding: number;
}

/** What is asked for when the metrics are read. */
export interface Asked {
  /** Why the models cannot be called; undefined if they can. */
  readonly reason: () => string | undefined;
  /** Calls that the model server had no thread for, so far. */
  readonly refusals: () => number;
  /** Processes of the model server that ended, so far. */
  readonly modelServerEnds: () => number;
  /** Bytes that the requests in flight hold. */
  readonly heldBytes: () => number;
}

/** Upper bounds in seconds, from a small model on a fast machine to the longest asynchronous inference. */
const SECONDS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600,
];
/** Has the exemplars. */
const PART_SECONDS = 'sagemaker_tfs_request_part_seconds';
const BYTES = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

/** Counts and measures requests. */
export class Metrics implements MetricsPage {
  readonly #registry = new Registry();
  readonly #requests = this.#counter(
    'sagemaker_tfs_requests_total',
    'Requests answered, by model, version, media type, transport and HTTP status.',
    ['model', 'version', 'content_type', 'transport', 'status'],
  );
  readonly #errors = this.#counter(
    'sagemaker_tfs_errors_total',
    'Requests answered with an error, by model and code; OVERLOADED are those refused unread.',
    ['model', 'code'],
  );
  readonly #inFlight = new Gauge({
    name: 'sagemaker_tfs_requests_in_flight',
    help: 'Requests being worked on.',
    registers: [this.#registry],
  });
  readonly #seconds = this.#histogram(
    PART_SECONDS,
    'Where the time of a request went: receive, queue, decode, predict, encode.',
    ['model', 'part'],
    SECONDS,
  );
  readonly #requestBytes = this.#histogram(
    'sagemaker_tfs_request_bytes',
    'Sizes of request bodies.',
    ['model'],
    BYTES,
  );
  readonly #responseBytes = this.#histogram(
    'sagemaker_tfs_response_bytes',
    'Sizes of response bodies.',
    ['model'],
    BYTES,
  );

  readonly #batches = this.#counter(
    'sagemaker_tfs_batches_total',
    'Batches that ran in the runtime itself.',
    ['model'],
  );
  readonly #batchedRequests = this.#counter(
    'sagemaker_tfs_batched_requests_total',
    'Requests in those batches.',
    ['model'],
  );
  readonly #batchedRows = this.#counter(
    'sagemaker_tfs_batched_rows_total',
    'Rows in those batches: of requests, and padding.',
    ['model', 'kind'],
  );

  readonly #exemplars = new Exemplars(SECONDS);
  readonly #modelLabel = boundedLabel();
  readonly #versionLabel = boundedLabel();
  readonly #codeLabel = boundedLabel();

  constructor(asked: Asked) {
    const registers = [this.#registry];
    addReadyGauge(registers, () => asked.reason() === undefined);
    new Gauge({
      name: 'sagemaker_tfs_resident_memory_bytes',
      help: 'Resident memory of the processes of the runtime, without the model server.',
      registers,
      collect() {
        this.set(process.memoryUsage.rss());
      },
    });
    new Gauge({
      name: 'sagemaker_tfs_held_bytes',
      help: 'Bytes that the requests in flight hold: bodies, tensors and answers.',
      registers,
      collect() {
        this.set(asked.heldBytes());
      },
    });
    new Counter({
      name: 'sagemaker_tfs_model_server_refusals_total',
      help: 'Calls that TensorFlow Serving had no thread for; they were sent again, in turn.',
      registers,
      collect() {
        this.reset();
        this.inc(asked.refusals());
      },
    });
    new Counter({
      name: 'sagemaker_tfs_model_server_restarts_total',
      help: 'Processes of TensorFlow Serving that ended and were started again.',
      registers,
      // All processes of the runtime know of the same ends.
      aggregator: 'max',
      collect() {
        this.reset();
        this.inc(asked.modelServerEnds());
      },
    });
    this.#containerMemory();
  }

  /** Of all processes: those of the runtime and of the model server. */
  #containerMemory(): void {
    if (usedContainerMemory() === undefined) return;
    const registers = [this.#registry];
    new Gauge({
      name: 'sagemaker_tfs_container_memory_bytes',
      help: 'Memory of the container, the model server included, without files that can be dropped.',
      registers,
      aggregator: 'max',
      collect() {
        this.set(usedContainerMemory() ?? 0);
      },
    });
    new Gauge({
      name: 'sagemaker_tfs_container_memory_limit_bytes',
      help: 'Memory that the container may use.',
      registers,
      aggregator: 'max',
      collect() {
        this.set(containerMemory());
      },
    });
  }

  started(): void {
    this.#inFlight.inc();
  }

  finished({ transport = '', errorCode, ...sample }: RequestSample): void {
    const model = this.#modelLabel(sample.model ?? '');
    this.#inFlight.dec();
    this.#requests.inc({
      model,
      version: this.#versionLabel(sample.version ?? ''),
      content_type: mediaTypeLabel(sample.contentType),
      transport,
      status: String(sample.status),
    });
    if (errorCode !== undefined) this.#errors.inc({ model, code: this.#codeLabel(errorCode) });
    const now = Date.now();
    for (const [part, ms] of Object.entries(sample.timings)) {
      this.#seconds.observe({ model, part }, ms / 1000);
      this.#exemplars.note(model, part, ms / 1000, sample.requestId, now);
    }
    if (sample.requestBytes !== undefined)
      this.#requestBytes.observe({ model }, sample.requestBytes);
    this.#responseBytes.observe({ model }, sample.responseBytes);
  }

  batch({ model, requests, rows, padding }: BatchSample): void {
    this.#batches.inc({ model });
    this.#batchedRequests.inc({ model }, requests);
    this.#batchedRows.inc({ model, kind: 'request' }, rows);
    this.#batchedRows.inc({ model, kind: 'padding' }, padding);
  }

  async text(format: MetricsFormat): Promise<string> {
    return format === 'openmetrics'
      ? openMetricsText([await this.json()])
      : this.#registry.metrics();
  }

  /** For another process to join with its own; see prom-client's AggregatorRegistry. */
  async json(): Promise<MetricJson[]> {
    const all = (await this.#registry.getMetricsAsJSON()) as unknown as MetricJson[];
    const parts = all.find(({ name }) => name === PART_SECONDS);
    if (parts) this.#exemplars.addTo(parts);
    return all;
  }

  #counter(name: string, help: string, labelNames: string[]): Counter {
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  #histogram(name: string, help: string, labelNames: string[], buckets: number[]): Histogram {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.#registry] });
  }
}
