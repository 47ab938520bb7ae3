/** One image after another over each transport, as the first of the founding papers measured it. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type LatencySummary, summarize } from 'sagemaker-tfs/development/output';
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
}

const answer = z.object({ predictions: z.array(z.object({ digit: z.number() })).length(1) });

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
    let correct = 0;
    for (const image of images) {
      const from = performance.now();
      const digit = await classify(url, image.body, transport, signal);
      milliseconds.push(performance.now() - from);
      if (digit === image.digit) correct++;
    }
    results.push({ transport, milliseconds, summary: summarize(milliseconds), correct });
  }
  return results;
}

/** The digit that the endpoint sees in an image. */
async function classify(
  url: string,
  body: Uint8Array,
  transport: string,
  signal: AbortSignal,
): Promise<number> {
  const response = await fetch(`${url}/invocations`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-image',
      'x-amzn-sagemaker-custom-attributes': `tfs-transport=${transport}`,
    },
    body,
    signal,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`POST ${url}/invocations: ${response.status} ${text}`);
  return parseDigit(text);
}

/** Reads the digit out of the example handler's reply. */
export function parseDigit(text: string): number {
  return answer.parse(JSON.parse(text)).predictions[0]?.digit as number;
}
