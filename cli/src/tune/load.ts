/** A closed loop of requests: a fixed number in flight, each followed at once by the next. */
import { PredictionError, type Target } from '@sagemaker-tfs/client';
import { encodeLengthPrefixed } from '@sagemaker-tfs/tensors';
import { CommandError } from '../errors.ts';
import { summarize } from '../output/latency.ts';
import { type CountedAnswer, countedAnswer } from '../serving/counted-answer.ts';
import type { Point } from './point.ts';

/** One request. */
export interface Sample {
  readonly body: Uint8Array;
  /** Of its file, for messages. */
  readonly name: string;
  readonly contentType: string;
}

/** What is sent. */
export interface Samples {
  /** Sent in turn. */
  readonly requests: readonly Sample[];
  readonly accept?: string;
  /** Sees every answer. */
  readonly onAnswer?: (answer: CountedAnswer) => void;
  /** Sees what a request got in place of an answer. */
  readonly onError?: (error: PredictionError) => void;
}

/** Bodies of several images each, as the runtime takes them: each image behind its length. */
function inBatches(requests: Samples['requests'], batchSize: number): Samples['requests'] {
  if (batchSize === 1) return requests;
  return requests.map(({ name }, start) => {
    const images = Array.from({ length: batchSize }, (_, i) => turn(requests, start + i).body);
    const body = Buffer.concat(images.flatMap(encodeLengthPrefixed));
    return { body, name, contentType: 'application/octet-stream' };
  });
}

/** The sample whose turn it is. */
function turn(requests: Samples['requests'], at: number): Sample {
  return requests[at % requests.length] as Sample;
}

/** Part of the time that comes before what is measured. */
const WARM_UP = 0.3;

/**
 * Loads a target and measures.
 * @throws CommandError TUNE_FAILED if no request at all is answered, with the answer to the last
 */
export async function measure(
  target: Target,
  samples: Samples,
  settings: { readonly concurrency: number; readonly batchSize: number; readonly seconds: number },
  signal: AbortSignal,
): Promise<Pick<Point, 'imagesPerSecond' | 'p50' | 'p95' | 'errors'>> {
  const { concurrency, batchSize, seconds } = settings;
  const batches = { ...samples, requests: inBatches(samples.requests, batchSize) };
  await loop(target, batches, concurrency, seconds * WARM_UP, signal);
  const started = performance.now();
  const { latencies, errors, lastError } = await loop(
    target,
    batches,
    concurrency,
    seconds,
    signal,
  );
  const elapsed = (performance.now() - started) / 1_000;
  if (latencies.length === 0) {
    throw new CommandError(
      'TUNE_FAILED',
      'no request was answered with 200. See that the model answers the sample.',
      {
        cause: lastError,
      },
    );
  }
  const { p50, p95 } = summarize(latencies);
  return { imagesPerSecond: (latencies.length * batchSize) / elapsed, p50, p95, errors };
}

async function loop(
  target: Target,
  { requests, accept, onAnswer, onError }: Samples,
  concurrency: number,
  seconds: number,
  signal: AbortSignal,
) {
  const until = performance.now() + seconds * 1_000;
  const latencies: number[] = [];
  let [sent, errors] = [0, 0];
  let lastError: unknown;
  const one = async () => {
    do {
      const { body, contentType } = turn(requests, sent++);
      const from = performance.now();
      try {
        const answer = await countedAnswer(target, body, {
          contentType,
          signal,
          retries: 0,
          ...(accept && { accept }),
        });
        latencies.push(performance.now() - from);
        onAnswer?.(answer);
      } catch (error) {
        if (!(error instanceof PredictionError)) throw error;
        errors++;
        lastError = error;
        onError?.(error);
      }
    } while (performance.now() < until);
  };
  await Promise.all(Array.from({ length: concurrency }, one));
  return { latencies, errors, lastError };
}
