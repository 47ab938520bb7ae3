/**
 * A request's spans, made when it is over, in the JSON of OpenTelemetry's protocol.
 * https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
 */
import { randomBytes } from 'node:crypto';
import type { Timings } from './timings.ts';
import type { TraceContext } from './trace-context.ts';

/** A finished request as its spans see it. */
export interface TracedRequest {
  readonly requestId: string;
  /** Path of the request. */
  readonly path: string;
  /** Of its start, in milliseconds since 1970. */
  readonly startedAt: number;
  /** Until its answer was sent or its connection gone. */
  readonly milliseconds: number;
  readonly timings: Timings;
  readonly status: number;
  /** Code of the error that was answered; undefined if none was. */
  readonly errorCode: string | undefined;
  readonly model: string | undefined;
  readonly version: string | undefined;
  readonly transport: string | undefined;
  readonly requestBytes: number | undefined;
  readonly responseBytes: number;
}

/** A span in the protocol's JSON. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly Attribute[];
  readonly status?: { readonly code: number };
}

type Attribute = {
  readonly key: string;
  readonly value: { readonly stringValue: string } | { readonly intValue: string };
};

const KIND_INTERNAL = 1;
const KIND_SERVER = 2;
const STATUS_ERROR = 2;
/** Characters of a text of the caller's. */
const MAX_TEXT = 200;

/** The request's span, and one for each part that took time, each a child of it. */
export function spansOf(request: TracedRequest, parent: TraceContext | undefined): Span[] {
  const { startedAt, milliseconds, status, timings } = request;
  const ids = randomBytes(16 + 8 * 6).toString('hex');
  const traceId = parent?.traceId ?? ids.slice(0, 32);
  const spanId = idOf(ids, 0);
  const root: Span = {
    traceId,
    spanId,
    ...(parent && { parentSpanId: parent.spanId }),
    ...(parent?.state && { traceState: parent.state }),
    name: `POST ${request.path.slice(0, MAX_TEXT)}`,
    kind: KIND_SERVER,
    startTimeUnixNano: nanoseconds(startedAt),
    endTimeUnixNano: nanoseconds(startedAt + milliseconds),
    attributes: attributesOf(request),
    ...(status >= 500 && { status: { code: STATUS_ERROR } }),
  };
  let at = startedAt;
  const parts = Object.entries(timings).map(([name, took], index): Span => {
    const start = at;
    at += took;
    return {
      traceId,
      spanId: idOf(ids, index + 1),
      parentSpanId: spanId,
      name,
      kind: KIND_INTERNAL,
      startTimeUnixNano: nanoseconds(start),
      endTimeUnixNano: nanoseconds(at),
    };
  });
  return [root, ...parts.filter((part) => part.startTimeUnixNano !== part.endTimeUnixNano)];
}

/** Spans as one request of the protocol, or one line of a log. */
export function exportOf(spans: readonly Span[]) {
  const resource = { attributes: [text('service.name', 'sagemaker-tfs')] };
  return {
    resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'sagemaker-tfs' }, spans }] }],
  };
}

const idOf = (ids: string, index: number) => ids.slice(32 + 16 * index, 48 + 16 * index);

/** Without the loss of a number beyond 2^53. */
function nanoseconds(milliseconds: number): string {
  const whole = Math.floor(milliseconds);
  return String(BigInt(whole) * 1_000_000n + BigInt(Math.round((milliseconds - whole) * 1e6)));
}

function attributesOf(request: TracedRequest): Attribute[] {
  const { status, requestBytes, responseBytes, errorCode } = request;
  const texts = {
    'http.request.method': 'POST',
    'sagemaker_tfs.request_id': request.requestId,
    'sagemaker_tfs.model': request.model,
    'sagemaker_tfs.model_version': request.version,
    'sagemaker_tfs.transport': request.transport,
    'error.type': errorCode,
  };
  const numbers = {
    'http.response.status_code': status,
    'http.request.body.size': requestBytes,
    'http.response.body.size': responseBytes,
  };
  return [
    ...Object.entries(texts).flatMap(([key, value]) => (value ? [text(key, value)] : [])),
    ...Object.entries(numbers).flatMap(([key, value]) =>
      value === undefined ? [] : [{ key, value: { intValue: String(value) } }],
    ),
  ];
}

function text(key: string, value: string): Attribute {
  return { key, value: { stringValue: value.slice(0, MAX_TEXT) } };
}
