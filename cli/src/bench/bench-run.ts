/** What `bench --json` writes and `bench --compare` reads. */

import { readFile } from 'node:fs/promises';
import { fieldWords, wrongFields } from '@sagemaker-tfs/manifest';
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import * as z from 'zod';
import { CommandError, cannotRead } from '../errors.ts';
import { runFactsSchema } from './run-facts.ts';

/** Characters of a file that is no JSON. */
const SHOWN = 40;

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
  const { data, error } = schema.safeParse(jsonOf(text), { error: fieldWords });
  if (data) return data;
  // Nobody writes a field of it by hand: the first that is wrong is enough, without what to write there.
  const [wrong = ''] = wrongFields(error);
  const reason = text.trim() === '' ? 'it is empty' : (wrong.split('. ', 1)[0] ?? '');
  throw new CommandError(
    'RUN_INVALID',
    `${file} is no result of bench: ${sentence(reason)} Write one with bench FILE --json > ${file}.`,
  );
}

/** The text itself if it is no JSON: the schema then says that it is no object. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text;
  }
}
