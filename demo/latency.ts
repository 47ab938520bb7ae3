/** One image after another over each transport, as the first of the founding papers measured it. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseCustomAttributes } from 'sagemaker-tfs/client';
import { type LatencySummary, summarize } from 'sagemaker-tfs/development/output';
import { type PartTimes, partSums } from 'sagemaker-tfs/development/report';
import * as z from 'zod';

/** Transports that the runtime offers by request. */
export const TRANSPORTS = ['rest', 'grpc'] as const;

/** One transport's measurement. */
export interface TransportLatency {
  readonly transport: (typeof TRANSPORTS)[number];
  /** Milliseconds of each call, in order. */
  readonly milliseconds: readonly number[];
  readonly summary: LatencySummary;
  readonly correct: number;
  /** Mean milliseconds of each part of an answer's time. */
  readonly parts: PartTimes | undefined;
}

const CUSTOM_ATTRIBUTES = 'x-amzn-sagemaker-custom-attributes';

const prediction = z.object({ digit: z.number(), probabilities: z.array(z.number()) });
const answer = z.object({ predictions: z.array(prediction).length(1) });

/** Sends every sample image once over each transport; the first call of each is a warm-up, not counted. */
export async function measureLatency(
  url: string,
  samples: string,
  signal: AbortSignal,
): Promise<readonly TransportLatency[]> {
  const names = (await readdir(samples)).filter((name) => /\.(png|jpe?g)$/.test(name)).sort();
  const images = await Promise.all(
    names.map(async (name) => ({
      body: await readFile(join(samples, name)),
      digit: Number(/-(\d)\./.exec(name)?.[1]),
    })),
  );
  const results: TransportLatency[] = [];
  for (const transport of TRANSPORTS) {
    if (images[0]) await classify(url, images[0].body, transport, signal);
    const milliseconds: number[] = [];
    const sums = partSums();
    let correct = 0;
    for (const image of images) {
      const from = performance.now();
      const { digit, timings } = await classify(url, image.body, transport, signal);
      const took = performance.now() - from;
      milliseconds.push(took);
      sums.add(timings, took);
      if (digit === image.digit) correct++;
    }
    const parts = sums.means(images.length);
    results.push({ transport, milliseconds, summary: summarize(milliseconds), correct, parts });
  }
  return results;
}

/** The digit that the endpoint sees in an image, and where the time went. */
async function classify(
  url: string,
  body: Uint8Array,
  transport: string,
  signal: AbortSignal,
): Promise<{ readonly digit: number; readonly timings: string | undefined }> {
  const response = await fetch(`${url}/invocations`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-image',
      [CUSTOM_ATTRIBUTES]: `tfs-transport=${transport},tfs-timings=1`,
    },
    body,
    signal,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`POST ${url}/invocations: ${response.status} ${text}`);
  const { 'tfs-timings': timings } = parseCustomAttributes(
    response.headers.get(CUSTOM_ATTRIBUTES) ?? '',
  );
  return { digit: parsePrediction(text).digit, timings };
}

/** Reads the prediction out of the example handler's reply. */
export function parsePrediction(text: string): z.output<typeof prediction> {
  return answer.parse(JSON.parse(text)).predictions[0] as z.output<typeof prediction>;
}
