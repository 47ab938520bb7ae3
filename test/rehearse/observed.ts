/** What a team sees of requests to the endpoint: the trace of one, from its caller to the model, and the metrics of all. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { SageMakerRuntimeClient } from '@aws-sdk/client-sagemaker-runtime';
import { predict } from '../../client/src/index.ts';
import { startAwsStandIn } from './aws-stand-in.ts';
import type { Serving } from './serve.ts';

const WAIT_MS = 10_000;

/** A line of the log with spans, in the JSON of OpenTelemetry's protocol. */
interface TraceLine {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
}

/**
 * Asks the endpoint as a traced caller does, through AWS's SDK. Then its spans must be in the container's log, in the
 * caller's trace, and the request must be counted where SageMaker's collector reads.
 * @returns the names of the spans, the caller's side first
 * @throws Error that says what is missing
 */
export async function followRequest(serving: Serving, picture: Uint8Array): Promise<string[]> {
  const standIn = await startAwsStandIn({ invoke: (invocation) => serving.invoke(invocation) });
  const [traceId, callerSpan] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  const before = await answered(serving);
  try {
    const client = new SageMakerRuntimeClient({ endpoint: standIn.url, maxAttempts: 1 });
    await predict({ endpointName: 'rehearsed', client }, picture, {
      contentType: 'application/x-image',
      customAttributes: { traceparent: `00-${traceId}-${callerSpan}-01` },
    });
  } finally {
    await standIn.close();
  }
  const spans = await spansOf(serving, traceId);
  const root = spans.find(({ parentSpanId }) => parentSpanId === callerSpan);
  const parts = spans.filter(({ parentSpanId }) => parentSpanId === root?.spanId);
  const names = [root, ...parts].map((span) => span?.name ?? 'none');
  if (!names.includes('predict')) throw new Error(`the trace has ${names.join(', ')}, no predict`);
  const counted = (await answered(serving)) - before;
  if (counted !== 1) throw new Error(`/metrics counts ${counted} more answers, not 1`);
  return names;
}

/** Answers with 200 so far, of `GET /metrics`. */
async function answered({ url }: Serving): Promise<number> {
  const page = await (await fetch(`${url}/metrics`)).text();
  const counts = page.matchAll(/^sagemaker_tfs_requests_total\{.*status="200"\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** The log is written after the answer. */
async function spansOf({ log }: Serving, traceId: string): Promise<Span[]> {
  const deadline = Date.now() + WAIT_MS;
  for (;;) {
    const spans = log()
      .flatMap((line) => (line as Partial<TraceLine>).resourceSpans ?? [])
      .flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans))
      .filter((span) => span.traceId === traceId);
    if (spans.length > 0) return spans;
    if (Date.now() > deadline) throw new Error(`the container's log has no span of ${traceId}`);
    await sleep(100);
  }
}
