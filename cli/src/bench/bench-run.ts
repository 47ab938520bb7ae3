/** What `bench --json` writes and `bench --compare` reads. */

import { readFile } from 'node:fs/promises';
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import * as z from 'zod';
import { CommandError, cannotRead, explain } from '../errors.ts';
import { runFactsSchema } from './run-facts.ts';

const milliseconds = z.number().nonnegative();

/** Parts of an answer's time, in their order. */
export const PARTS = ['receive', 'queue', 'decode', 'predict', 'encode', 'around'] as const;

/**
 * Mean milliseconds of each part: the runtime's own (`tfs-timings`), and `around` them what is left of the caller's time:
 * network, HTTP and the client.
 */
const partsSchema = z.object({
  receive: milliseconds,
  queue: milliseconds,
  decode: milliseconds,
  predict: milliseconds,
  encode: milliseconds,
  around: milliseconds,
});
export type PartTimes = z.output<typeof partsSchema>;

/** Requests over one transport. */
const transportSchema = z.object({
  transport: z.string(),
  /** Milliseconds; the first request is not among them. */
  latency: z.object({
    count: z.number().int().positive(),
    mean: milliseconds,
    p50: milliseconds,
    p90: milliseconds,
    p95: milliseconds,
    p99: milliseconds,
    min: milliseconds,
    max: milliseconds,
  }),
  /** Milliseconds of the first request, which opens the connection. */
  firstMs: milliseconds,
  requestsPerSecond: z.number().positive(),
  /** Bytes of one answer. */
  responseBytes: z.number().int().nonnegative(),
  /** Absent if the container does not report its times. */
  parts: partsSchema.optional(),
  /** Of each request, in the order in which they ended. */
  milliseconds: z.array(milliseconds).nonempty(),
});
export type TransportResult = z.output<typeof transportSchema>;

const schema = runFactsSchema.extend({
  /** URL or endpoint. */
  target: z.string(),
  request: z.object({
    file: z.string(),
    bytes: z.number().int().nonnegative(),
    /** SHA-256 of the body, hexadecimal. */
    sha256: z.string(),
    contentType: z.string(),
    accept: z.string().optional(),
    /** Over each transport, and how many at a time. */
    requests: z.number().int().positive(),
    inFlight: z.number().int().positive(),
  }),
  results: z.array(transportSchema).nonempty(),
});

/** One run of `bench`. */
export type BenchRun = z.output<typeof schema>;

/** Reads a run. @throws CommandError FILE_NOT_FOUND, RUN_INVALID */
export async function readBenchRun(file: string): Promise<BenchRun> {
  const text = await readFile(file, 'utf8').catch(cannotRead(file));
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new CommandError(
      'RUN_INVALID',
      `${file} is no result of bench: ${sentence(reasonOf(cause))} Write one with bench FILE --json > ${file}.`,
    );
  }
}

/** The first field that is wrong, or what a parser of JSON says. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof z.ZodError)) return explain(cause);
  const { path = [], message = '' } = cause.issues[0] ?? {};
  return path.length > 0 ? `${path.join('.')}: ${message}` : message;
}
