/** What `verify` and `bench` found of a model, as the Model Registry keeps it. */
import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { readBenchRun } from '../bench/bench-run.ts';
import { CommandError, cannotRead, usageError } from '../errors.ts';

const verifySchema = z.object({
  /** Absent in reports of earlier versions, and for archives without a manifest. */
  fingerprint: z.string().optional(),
  versions: z.array(
    z.object({
      loadMs: z.number(),
      signatures: z.array(z.object({ medianMs: z.number().optional() })),
    }),
  ),
  requests: z.array(z.object({ status: z.number(), latencyMs: z.number() })),
});

/** Groups of numbers, `{ group: { name: { value } } }`: the form of SageMaker's own reports of model quality. */
export type Metrics = Readonly<
  Record<string, Readonly<Record<string, { readonly value: number }>>>
>;

/** Files with evidence. */
export interface EvidenceFiles {
  /** What `verify --json` printed. */
  readonly verify?: string;
  /** What `bench --json` printed. */
  readonly bench?: string;
  /** Metrics of the model's quality, any JSON object. */
  readonly metrics?: string;
}

/** What is known of a model beside its files. */
export interface Evidence {
  /** Milliseconds and counts by name, for the package's metadata. */
  readonly facts: Readonly<Record<string, number>>;
  /** The document that the package's metrics name. */
  readonly document: Readonly<Record<string, unknown>>;
}

/** Group of this command's own numbers in {@link Evidence.document}. */
const SERVING = 'serving_metrics';

/**
 * Reads the files that there are.
 * @param fingerprint of the archive that is registered; undefined if it has no manifest
 * @throws CommandError FILE_NOT_FOUND, RUN_INVALID; USAGE for evidence of another model
 */
export async function readEvidence(
  files: EvidenceFiles,
  fingerprint: string | undefined,
): Promise<Evidence> {
  const facts = {
    ...(files.verify !== undefined && (await verifyFacts(files.verify, fingerprint))),
    ...(files.bench !== undefined && (await benchFacts(files.bench, fingerprint))),
  };
  const own: Metrics = {
    [SERVING]: Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, { value }])),
  };
  const others = files.metrics === undefined ? {} : await readObject(files.metrics);
  return { facts, document: { ...others, ...(Object.keys(facts).length > 0 && own) } };
}

/** @throws CommandError USAGE if the report is of another archive, or of one that did not answer */
async function verifyFacts(
  file: string,
  fingerprint: string | undefined,
): Promise<Record<string, number>> {
  const report = verifySchema.safeParse(await readObject(file));
  if (!report.success) {
    throw invalid(file, 'a report of verify', 'verify ARCHIVE --json');
  }
  const { versions, requests } = report.data;
  sameModel(file, report.data.fingerprint, fingerprint);
  const refused = requests.filter(({ status }) => status >= 400);
  if (refused.length > 0) {
    throw usageError(
      `${file}: ${refused.length} of ${requests.length} requests were refused. Mend the model or the sample, and verify again.`,
    );
  }
  const newest = versions.at(-1);
  const medians = versions
    .flatMap(({ signatures }) => signatures)
    .flatMap(({ medianMs }) => (medianMs === undefined ? [] : [medianMs]));
  return {
    ...(newest && { load_ms: newest.loadMs }),
    ...(medians.length > 0 && { slowest_signature_median_ms: Math.max(...medians) }),
    verified_requests: requests.length,
  };
}

async function benchFacts(
  file: string,
  fingerprint: string | undefined,
): Promise<Record<string, number>> {
  const { results, model, request } = await readBenchRun(file);
  sameModel(file, model.fingerprint, fingerprint);
  const [first] = results;
  if (!first) return {};
  const { latency, requestsPerSecond } = first;
  return {
    latency_p50_ms: latency.p50,
    latency_p90_ms: latency.p90,
    latency_p99_ms: latency.p99,
    requests_per_second: requestsPerSecond,
    requests_in_flight: request.inFlight,
  };
}

/** `bench` knows the first digits of a fingerprint. */
function sameModel(file: string, told: string | undefined, archive: string | undefined): void {
  if (told === undefined || archive === undefined || archive.startsWith(told)) return;
  throw usageError(
    `${file} is of the model with the fingerprint ${told}, and the archive has ${archive}. Give the report of this archive.`,
  );
}

async function readObject(file: string): Promise<Record<string, unknown>> {
  const text = await readFile(file, 'utf8').catch(cannotRead(file));
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
  } catch (cause) {
    throw new CommandError('RUN_INVALID', `${file} is no JSON object. Write the file again.`, {
      cause,
    });
  }
}

function invalid(file: string, what: string, command: string): CommandError {
  return new CommandError(
    'RUN_INVALID',
    `${file} is not ${what}. Write one with ${command} > ${file}.`,
  );
}
