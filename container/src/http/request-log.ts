/** Records each request when it is over: one line of the log, and the metrics. */

import { CUSTOM_ATTRIBUTES_HEADER } from '@sagemaker-tfs/tensors/custom-attributes';
import { RUNTIME_ERRORS } from '@sagemaker-tfs/tensors/runtime-errors';
import { ServingError } from '../errors.ts';
import { traceAttributes } from '../inference/custom-attributes.ts';
import type { Inference } from '../inference/inference.ts';
import type { RequestSample } from '../observability/metrics.ts';
import type { TracedRequest } from '../observability/spans.ts';
import type { Stopwatch, Timings } from '../observability/timings.ts';
import type { TraceHeaders } from '../observability/tracer.ts';
import type { Exchange, Outcome } from './exchange.ts';
import { errorCodeOf } from './reply.ts';
import type { Services } from './services.ts';

/** Characters of one text of the client's in a line. */
const MAX_TEXT_LENGTH = 1024;

/** What is learned about a request while it is answered. */
interface RequestRecord {
  inference: Inference | undefined;
  requestBytes: number | undefined;
}

/** Begins the record of a request; it is written by itself at the end. */
export function recordRequest(
  services: Services,
  exchange: Exchange,
  stopwatch: Stopwatch,
): RequestRecord {
  const { metrics, cloudWatch, tracer } = services;
  const record: RequestRecord = { inference: undefined, requestBytes: undefined };
  metrics.started();
  exchange.onFinish((outcome) => {
    const sample: RequestSample = {
      requestId: exchange.id,
      model: record.inference?.model.name,
      version: record.inference?.answeredVersion ?? record.inference?.model.version,
      contentType: cut(exchange.request.headers['content-type']),
      transport: record.inference?.backend.transport,
      status: outcome.status,
      requestBytes: record.requestBytes,
      responseBytes: outcome.bytes,
      timings: stopwatch.timings(),
    };
    const errorCode = outcome.error === undefined ? undefined : errorCodeOf(outcome.error);
    metrics.finished({ ...sample, errorCode });
    cloudWatch?.finished(sample);
    tracer?.finished(tracedOf(exchange, sample, errorCode, stopwatch), traceHeaders(exchange));
    writeLine(services, sample, outcome);
  });
  return record;
}

/** The request as its spans see it. */
function tracedOf(
  exchange: Exchange,
  { contentType: _, ...sample }: RequestSample,
  errorCode: string | undefined,
  stopwatch: Stopwatch,
): TracedRequest {
  return {
    ...sample,
    path: exchange.request.url?.split('?', 1)[0] ?? '',
    startedAt: stopwatch.startedAt,
    milliseconds: stopwatch.elapsed(),
    errorCode,
  };
}

/** SageMaker drops the headers of W3C: the custom attributes carry them, and come first. */
function traceHeaders({ request: { headers } }: Exchange): TraceHeaders {
  const attributes = [headers[CUSTOM_ATTRIBUTES_HEADER.toLowerCase()] ?? ''].flat().join(',');
  const carried = traceAttributes(attributes);
  if (carried.traceparent !== undefined) return carried;
  const own = (name: string) => [headers[name] ?? []].flat().join(',') || undefined;
  return { traceparent: own('traceparent'), tracestate: own('tracestate') };
}

function writeLine(
  { log }: Services,
  { timings, ...sample }: RequestSample,
  outcome: Outcome,
): void {
  const line = { ...sample, ms: rounded(timings) };
  const { error } = outcome;
  if (error === undefined) log.info(line, 'invocation');
  else if (outcome.status >= 500 && !isRefusal(error))
    log.error({ ...line, err: error }, 'invocation failed');
  else log.warn({ ...line, ...reasonOf(error) }, 'invocation refused');
}

/**
 * The code of a refusal, and its message if that shows nothing of the request. Other messages show what was wrong in its
 * body or its headers, and so a part of them: the client gets them, the log does not.
 */
function reasonOf(error: unknown): { readonly code?: string; readonly error?: string | undefined } {
  const message = cut((error as Error).message);
  if (!(error instanceof ServingError)) return { error: message };
  return RUNTIME_ERRORS[error.code].withoutData
    ? { code: error.code, error: message }
    : { code: error.code };
}

/** Nothing failed, and under overload there are many: no stack for each. */
function isRefusal(error: unknown): boolean {
  return error instanceof ServingError && error.code === 'OVERLOADED';
}

/** Headers are the client's, and may be as long as Node lets them. */
function cut(text: string | undefined): string | undefined {
  return text?.slice(0, MAX_TEXT_LENGTH);
}

function rounded({ receive, queue, decode, predict, encode }: Timings): Timings {
  return {
    receive: hundredths(receive),
    queue: hundredths(queue),
    decode: hundredths(decode),
    predict: hundredths(predict),
    encode: hundredths(encode),
  };
}

function hundredths(ms: number): number {
  return Math.round(ms * 100) / 100;
}
