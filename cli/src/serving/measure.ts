/** One request body sent again and again: the latency and throughput that a caller sees. */
import { type Answer, predict, type Target } from '@sagemaker-tfs/client';
import { PARTS, type PartTimes, type TransportResult } from '../bench/bench-run.ts';
import { summarize } from '../output/latency.ts';

/** What to send, how often, and to whom. */
export interface Measurement {
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

/** What came of it. */
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
      responseBytes: first.answer.bytes.byteLength,
      ...(means && { parts: means }),
      milliseconds: milliseconds.map(inMicroseconds) as [number, ...number[]],
    },
    attributes: first.answer.customAttributes,
  };
}

const inMicroseconds = (value: number) => Math.round(value * 1e3) / 1e3;

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
  const answer = await predict(target, body, {
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

/** Adds up `tfs-timings`; there are no means unless every answer had them. */
function partSums() {
  const sums: Record<string, number> = {};
  let told = 0;
  return {
    add(timings: string | undefined, milliseconds: number) {
      const parts = readTimings(timings);
      if (!parts) return;
      told++;
      let around = milliseconds;
      for (const [part, value] of Object.entries(parts)) {
        sums[part] = (sums[part] ?? 0) + value;
        around -= value;
      }
      sums.around = (sums.around ?? 0) + around;
    },
    means(requests: number): PartTimes | undefined {
      if (told !== requests) return undefined;
      // The two clocks start and stop apart: on one machine `around` can come out a hair below zero.
      const mean = (part: string) => Math.max(0, inMicroseconds((sums[part] ?? 0) / told));
      return Object.fromEntries(PARTS.map((part) => [part, mean(part)])) as PartTimes;
    },
  };
}

/** `receive:0.2;queue:0.0;decode:1.1;predict:3.0;encode:0.1`; undefined for anything else. */
function readTimings(text = ''): Readonly<Record<string, number>> | undefined {
  const pairs = text.split(';').map((pair) => pair.split(':'));
  const parts = Object.fromEntries(pairs.map(([name = '', value]) => [name, Number(value)]));
  const isWhole = PARTS.every((part) => part === 'around' || (parts[part] ?? -1) >= 0);
  return isWhole && pairs.length === PARTS.length - 1 ? parts : undefined;
}
