/**
 * Metrics in the CloudWatch embedded metric format: log lines from which CloudWatch itself makes metrics.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
import type { Logger } from 'pino';
import type { RequestSample } from './metrics.ts';

/** The specification's bound on the values of one metric in one line. */
const MAX_VALUES = 100;
const FLUSH_INTERVAL_MS = 10_000;
/**
 * Most bytes of a line. Several processes write to one pipe, and the kernel keeps only writes of PIPE_BUF bytes in
 * one piece (pipe(7)): the parts of longer lines may lie between each other.
 */
const LINE_BYTES = 4096;
/** What the logger adds to a line: level, time, process and the end. */
const LOGGER_BYTES = 256;
/** A name of a model as a dimension; CloudWatch takes up to 1,024 characters. */
const MAX_MODEL_LENGTH = 200;

const UNITS = {
  Invocations: 'Count',
  Errors4xx: 'Count',
  Errors5xx: 'Count',
  ReceiveMs: 'Milliseconds',
  QueueMs: 'Milliseconds',
  DecodeMs: 'Milliseconds',
  PredictMs: 'Milliseconds',
  EncodeMs: 'Milliseconds',
  TotalMs: 'Milliseconds',
  RequestBytes: 'Bytes',
  ResponseBytes: 'Bytes',
} as const;

type Name = keyof typeof UNITS;
/** The values of one request. */
type Row = Partial<Record<Name, number>>;

/** Requests of one model that no line holds yet. */
interface Pending {
  readonly rows: Row[];
  /** Bytes of the line that would hold them. */
  bytes: number;
}

/** Gathers samples by model and writes a line for many requests at once. */
export class CloudWatchMetrics {
  readonly #log: Logger;
  readonly #namespace: string;
  readonly #pending = new Map<string, Pending>();
  readonly #timer: NodeJS.Timeout;

  constructor(log: Logger, namespace: string) {
    // The lines must leave whatever else is silenced.
    this.#log = log.child({}, { level: 'info' });
    this.#namespace = namespace;
    this.#timer = setInterval(() => this.flush(), FLUSH_INTERVAL_MS).unref();
  }

  finished(sample: RequestSample): void {
    const model = (sample.model ?? 'none').slice(0, MAX_MODEL_LENGTH);
    const row = rowOf(sample);
    const bytes = bytesOf(row);
    let pending = this.#pending.get(model);
    if (pending && pending.bytes + bytes > LINE_BYTES) {
      this.#write(model, pending.rows);
      pending = undefined;
    }
    pending ??= { rows: [], bytes: this.#emptyLineBytes(model) };
    this.#pending.set(model, pending);
    pending.rows.push(row);
    pending.bytes += bytes;
    if (pending.rows.length >= MAX_VALUES) this.#write(model, pending.rows);
  }

  /** Writes what is pending. */
  flush(): void {
    for (const [model, { rows }] of this.#pending) this.#write(model, rows);
  }

  close(): void {
    clearInterval(this.#timer);
    this.flush();
  }

  #write(model: string, rows: readonly Row[]): void {
    this.#pending.delete(model);
    this.#log.info(this.#line(model, rows));
  }

  /** Bytes of a line with the name of every metric and no value. */
  #emptyLineBytes(model: string): number {
    const zeros = Object.fromEntries(NAMES.map((name) => [name, 0]));
    return Buffer.byteLength(JSON.stringify(this.#line(model, [zeros]))) + LOGGER_BYTES;
  }

  #line(model: string, rows: readonly Row[]): object {
    const values = NAMES.map((name) => [name, rows.flatMap((row) => row[name] ?? [])] as const);
    const filled = values.filter(([, list]) => list.length > 0);
    const Metrics = filled.map(([name]) => ({ Name: name, Unit: UNITS[name] }));
    return {
      _aws: {
        Timestamp: Date.now(),
        CloudWatchMetrics: [{ Namespace: this.#namespace, Dimensions: [['Model']], Metrics }],
      },
      Model: model,
      ...Object.fromEntries(filled),
    };
  }
}

const NAMES = Object.keys(UNITS) as Name[];

/** Times to the microsecond: more digits are noise, and each costs a byte of the line. */
function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

function rowOf({ status, timings, requestBytes, responseBytes }: RequestSample): Row {
  const { receive, queue, decode, predict, encode } = timings;
  return {
    Invocations: 1,
    Errors4xx: status >= 400 && status < 500 ? 1 : 0,
    Errors5xx: status >= 500 ? 1 : 0,
    ReceiveMs: rounded(receive),
    QueueMs: rounded(queue),
    DecodeMs: rounded(decode),
    PredictMs: rounded(predict),
    EncodeMs: rounded(encode),
    TotalMs: rounded(receive + queue + decode + predict + encode),
    ...(requestBytes !== undefined && { RequestBytes: requestBytes }),
    ResponseBytes: responseBytes,
  };
}

/** Bytes that a request adds to a line: its numbers, each with a comma. */
function bytesOf(row: Row): number {
  return Object.values(row).reduce((sum, value) => sum + String(value).length + 1, 0);
}
