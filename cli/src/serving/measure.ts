/** One request body sent again and again: the latency and throughput that a caller sees. */
import type { Answer, Target } from '@sagemaker-tfs/client';
import type { TransportResult } from '../bench/bench-run.ts';
import { partSums } from '../bench/part-times.ts';
import { summarize } from '../output/latency.ts';
import { countedAnswer } from './counted-answer.ts';

/** What to send, how often, and to whom. */
interface Measurement {
  readonly target: Target;
  readonly body: Uint8Array;
  readonly contentType: string;
  readonly accept?: string;
  readonly variant?: string;
  /** `grpc` or `rest` by request, `own` for what the runtime is configured to. */
  readonly transport: string;
  readonly requests: number;
  readonly inFlight: number;
  readonly signal: AbortSignal;
  readonly onDone: (done: number) => void;
}

/** The result. */
export interface Measured {
  readonly result: TransportResult;
  /** Custom attributes of the first answer. */
  readonly attributes: Answer['customAttributes'];
}

/** Sends one request first, then the others, `inFlight` at a time. @throws PredictionError at the first failure */
export async function measure(measurement: Measurement): Promise<Measured> {
  const { transport, requests, inFlight, onDone } = measurement;
  const first = await once(measurement);
  const milliseconds: number[] = [];
  const parts = partSums();
  let left = requests;
  const from = performance.now();
  const work = async () => {
    while (left-- > 0) {
      const answered = await once(measurement);
      milliseconds.push(answered.milliseconds);
      parts.add(answered.answer.customAttributes['tfs-timings'], answered.milliseconds);
      onDone(milliseconds.length);
    }
  };
  await Promise.all(Array.from({ length: Math.min(inFlight, requests) }, work));
  const seconds = (performance.now() - from) / 1_000;
  const means = parts.means(requests);
  return {
    result: {
      transport,
      latency: summarize(milliseconds),
      firstMs: first.milliseconds,
      requestsPerSecond: requests / seconds,
      responseBytes: first.answer.bytes,
      ...(means && { parts: means }),
      milliseconds: milliseconds.map(toMicroseconds) as [number, ...number[]],
    },
    attributes: first.answer.customAttributes,
  };
}

const toMicroseconds = (value: number) => Math.round(value * 1e3) / 1e3;

async function once({
  target,
  body,
  contentType,
  accept,
  variant,
  transport,
  signal,
}: Measurement) {
  const from = performance.now();
  const answer = await countedAnswer(target, body, {
    contentType,
    ...(accept && { accept }),
    ...(variant && { targetVariant: variant }),
    customAttributes: {
      timings: true,
      ...((transport === 'grpc' || transport === 'rest') && { transport }),
    },
    retries: 0,
    signal,
  });
  return { milliseconds: performance.now() - from, answer };
}
