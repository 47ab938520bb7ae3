/**
 * SageMaker's batch agent on this machine: waits for the container, asks how it wants to be called, sends one
 * request for each object or record, keeps a number of them in flight, retries what may succeed the next time.
 */

import type { Stats } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  type AssembleWith,
  areTooMany,
  type BatchStrategy,
  DEFAULT_SETTINGS,
  defaultAssembly,
  type Existing,
  type SplitType,
} from '@sagemaker-tfs/batch';
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import { TensorError } from '@sagemaker-tfs/tensors';
import { CUSTOM_ATTRIBUTES_HEADER } from '@sagemaker-tfs/tensors/custom-attributes';
import { CommandError, explain, usageError } from '../../errors.ts';
import { assemble, commit, overLimit } from './assembly.ts';
import {
  type Completeness,
  checkCompleteness,
  type InputFailure,
  withoutOutput,
} from './completeness.ts';
import { type IsDone, openOrigin } from './existing.ts';
import { inGroups } from './groups.ts';
import {
  type BatchInput,
  folderSource,
  type InputSource,
  manifestSource,
  statOfInput,
} from './inputs.ts';
import { refuseCollisions } from './key-collisions.ts';
import { contentDigest, type MadeOf, openMadeOf } from './made-of.ts';
import { type OutputFolder, openOutputs } from './outputs.ts';
import { payloadsOf } from './records.ts';
import {
  askExecutionParameters,
  type RequestFailure,
  type RuntimeClient,
  runtimeClient,
  waitUntilHealthy,
} from './runtime-client.ts';

/** One local job; what is left out is as SageMaker has it. */
export interface LocalJob {
  /** The runtime, for example `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly inputDirectory: string;
  /** Manifest of keys below the input folder. Default: all files of the folder. */
  readonly manifest?: string;
  readonly outputDirectory: string;
  /** Whether links may lead out of the input folder. Default: false, such files fail. */
  readonly followLinks?: boolean;
  readonly contentType: string;
  /** Default: the container's own choice (`Content-Type: application/json` for JSON). */
  readonly accept?: string;
  readonly customAttributes?: string;
  /** Default: None, one request an object. */
  readonly splitType?: SplitType;
  /** Records in a request. Default: the container's `BatchStrategy`. */
  readonly batchStrategy?: BatchStrategy;
  /** What follows the answer to each request of a split object. Default: Line for JSON, None for other types. */
  readonly assembleWith?: AssembleWith;
  /** Requests in flight. Default: the container's `MaxConcurrentTransforms`. */
  readonly maxConcurrentTransforms?: number;
  /** Largest payload in MB, 0 for no limit. Default: the container's `MaxPayloadInMB`. */
  readonly maxPayloadInMB?: number;
  /** Tries after the first of a request that failed with 429, 5xx or a lost connection. Default: 3. */
  readonly maxRetries?: number;
  /** Seconds that one request may take. Default: 600. */
  readonly timeoutSeconds?: number;
  /** Outputs of earlier jobs that count as done. Default: `older`. */
  readonly existing?: Existing;
  /** Names the model. Outputs of a model of another name are made again. Default: the URL always has the same model. */
  readonly model?: string;
  /** Failed inputs, in percent of those tried, that end the job; looked at from the 200th on. Default: 50. */
  readonly maxFailurePercent?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: JobProgress) => void;
  /** Gets the custom attributes of every answer of 200. */
  readonly onAnswer?: (customAttributes: string) => void;
}

/** Counters of a job under way, in inputs. */
export interface JobProgress {
  /** Finished by this run. */
  done: number;
  /** Those whose output was there before. */
  skipped: number;
  failed: number;
}

/** What a job did. */
export interface JobResult extends JobProgress, Completeness {
  /** The first 10,000 failures; `redriveReasons` has all. */
  readonly failures: readonly InputFailure[];
  /** Keys that the manifest names more than once; each was done once. */
  readonly duplicates: readonly string[];
  readonly seconds: number;
  readonly maxConcurrentTransforms: number;
}

const MB = 1024 * 1024;
/** Failures kept in memory. */
const KEPT = 10_000;

/** The inputs of a job. @throws BatchError MANIFEST_INVALID; CommandError USAGE if outputs would become inputs */
export async function sourceOf(job: {
  readonly inputDirectory: string;
  readonly outputDirectory: string;
  readonly manifest?: string;
}): Promise<InputSource> {
  if (resolve(job.inputDirectory) === resolve(job.outputDirectory)) {
    throw usageError(
      'the output folder is the input folder, so outputs would be inputs of the next run. Give --out another folder.',
    );
  }
  return job.manifest === undefined
    ? folderSource(job.inputDirectory, job.outputDirectory)
    : manifestSource(job.manifest, job.inputDirectory);
}

/**
 * Runs a job to its end; failed inputs are listed, never thrown.
 * @throws CommandError RUNTIME_NOT_READY, RUNTIME_LOST, OUTPUT_FAILED, OUTPUTS_IN_USE, KEYS_COLLIDE, TOO_MANY_FAILURES; BatchError
 * MANIFEST_INVALID
 */
export async function runLocalJob(job: LocalJob): Promise<JobResult> {
  const started = performance.now();
  const source = await sourceOf(job);
  await refuseCollisions(source, job.outputDirectory);
  await waitUntilHealthy(job.url, job.signal);
  const told = await askExecutionParameters(job.url);
  const concurrency = job.maxConcurrentTransforms ?? told.maxConcurrentTransforms;
  const outputs = await openOutputs(job.outputDirectory);
  const madeOf = await openMadeOf(job.outputDirectory);
  const run: Run = {
    job,
    strategy: job.batchStrategy ?? told.strategy,
    maxBytes: (job.maxPayloadInMB ?? told.maxPayloadInMB) * MB,
    client: clientOf(job, concurrency),
    outputs,
    madeOf,
    isDone: await openOrigin(job.outputDirectory, { ...originOptions(job), madeOf }),
    counts: { done: 0, skipped: 0, failed: 0 },
    failures: new Map(),
  };
  try {
    await workThrough(tasks(run, source), concurrency, run);
    const { outputDirectory } = job;
    const found = await checkCompleteness(source, outputDirectory, run.failures, run.isDone);
    return {
      ...run.counts,
      ...found,
      failures: [...run.failures.values()],
      duplicates: source.duplicates,
      seconds: (performance.now() - started) / 1_000,
      maxConcurrentTransforms: concurrency,
    };
  } finally {
    await run.client.destroy();
    await madeOf.close();
    await outputs.close();
  }
}

/** A job with what it needs at every step. */
interface Run {
  readonly job: LocalJob;
  readonly strategy: BatchStrategy;
  readonly maxBytes: number;
  readonly client: RuntimeClient;
  readonly outputs: OutputFolder;
  readonly madeOf: MadeOf;
  readonly isDone: IsDone;
  readonly counts: JobProgress;
  readonly failures: Map<string, InputFailure>;
}

function originOptions(job: LocalJob) {
  const { contentType, splitType, batchStrategy, customAttributes } = job;
  return {
    existing: job.existing ?? DEFAULT_SETTINGS.existing,
    model: job.model ?? '',
    // Not the prefix of a manifest: the files are these.
    root: resolve(job.inputDirectory),
    settings: {
      contentType,
      accept: job.accept ?? '',
      splitType: splitType ?? 'None',
      assembleWith: assemblyOf(job),
      ...(batchStrategy && { batchStrategy }),
      environment: { customAttributes: customAttributes ?? '' },
    },
  };
}

function assemblyOf({ assembleWith, splitType, accept }: LocalJob): AssembleWith {
  // The container's own choice is mostly JSON.
  return (
    assembleWith ?? defaultAssembly({ ...(splitType && { splitType }), ...(accept && { accept }) })
  );
}

function clientOf(job: LocalJob, connections: number): RuntimeClient {
  return runtimeClient({
    url: job.url,
    connections,
    maxRetries: job.maxRetries ?? DEFAULT_SETTINGS.invocationsMaxRetries,
    timeoutSeconds: job.timeoutSeconds ?? DEFAULT_SETTINGS.invocationsTimeoutInSeconds,
    ...(job.onAnswer && { onAnswer: job.onAnswer }),
    headers: {
      'content-type': job.contentType,
      ...(job.accept && { accept: job.accept }),
      ...(job.customAttributes && { [CUSTOM_ATTRIBUTES_HEADER]: job.customAttributes }),
    },
  });
}

/** Runs the tasks in their order, a number of them at once; the first error ends all. */
async function workThrough(
  queue: AsyncGenerator<() => Promise<void>>,
  concurrency: number,
  { client, job }: Run,
): Promise<void> {
  const stop = new AbortController();
  const end = (reason: unknown) => {
    stop.abort(reason);
    return client.destroy();
  };
  const interrupted = () => void end(job.signal?.reason);
  job.signal?.addEventListener('abort', interrupted, { once: true });
  if (job.signal?.aborted) interrupted();
  const work = async () => {
    try {
      for (;;) {
        const { done, value: task } = await queue.next();
        if (done || stop.signal.aborted) return;
        await task();
      }
    } catch (error) {
      if (!stop.signal.aborted) await end(error);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  job.signal?.removeEventListener('abort', interrupted);
  stop.signal.throwIfAborted();
}

/** What is to be done, one request a task; objects are begun in order, so that few are ever half done. */
async function* tasks(run: Run, source: InputSource): AsyncGenerator<() => Promise<void>> {
  const { job, counts } = run;
  const splitType = job.splitType ?? 'None';
  for await (const group of inGroups(source.list())) {
    const left = await withoutOutput(group, run.isDone);
    counts.skipped += group.length - left.length;
    if (left.length < group.length) job.onProgress?.(counts);
    for (const input of left) {
      if (splitType === 'None') yield async () => settle(run, input, await transform(run, input));
      else yield* transformRecords(run, input, splitType);
    }
  }
}

function settle({ job, counts, failures }: Run, { key }: BatchInput, failure?: RequestFailure) {
  counts[failure ? 'failed' : 'done']++;
  if (failure && failures.size < KEPT) failures.set(key, { key, ...failure });
  job.onProgress?.(counts);
  const tried = counts.done + counts.failed;
  const most = job.maxFailurePercent ?? DEFAULT_SETTINGS.maxFailurePercent;
  if (failure && areTooMany(counts.failed, tried, most)) {
    throw new CommandError(
      'TOO_MANY_FAILURES',
      `${counts.failed} of the first ${tried} inputs failed, and --max-failure-percent is ${most}. The last reason: ${sentence(failure.message)} Finished outputs are kept. Fix the cause and run it again.`,
      { details: { ...counts } },
    );
  }
}

/** The folder that links must stay in, if they must. */
function linksWithin({ followLinks, inputDirectory }: LocalJob): string | undefined {
  return followLinks ? undefined : inputDirectory;
}

/** Sends an object as one request; undefined if its output is written. */
async function transform(run: Run, input: BatchInput): Promise<RequestFailure | undefined> {
  const { job, maxBytes, outputs } = run;
  let body: Uint8Array;
  let info: Stats;
  try {
    info = await statOfInput(linksWithin(job), input.path);
    const { size } = info;
    if (maxBytes > 0 && size > maxBytes) {
      return { status: undefined, message: overLimit(size, maxBytes) };
    }
    body = await readFile(input.path);
  } catch (error) {
    return { status: undefined, message: `cannot read it: ${explain(error)}` };
  }
  let refused: RequestFailure | undefined;
  const failure = await run.client.send(body, async (answer) => {
    const output = await outputs.open(input.key);
    try {
      for await (const chunk of answer) await output.write(chunk);
    } catch (error) {
      await output.discard();
      throw error;
    }
    refused = await commit(output);
  });
  const problem = failure ?? refused;
  if (problem) return problem;
  const content = contentDigest();
  content.add(body);
  await run.madeOf.add(input.key, info, content.value());
  return undefined;
}

/** Sends an object record by record; its last task puts the output in place. */
async function* transformRecords(
  run: Run,
  input: BatchInput,
  splitType: Exclude<SplitType, 'None'>,
): AsyncGenerator<() => Promise<void>> {
  const { job, maxBytes, strategy, client, outputs } = run;
  const assembleWith = assemblyOf(job);
  const object = assemble(client, outputs, input.key, { assembleWith, maxBytes });
  const content = contentDigest();
  const cut = { splitType, strategy, maxBytes, onChunk: content.add };
  let info: Stats | undefined;
  let problem: string | undefined;
  try {
    info = await statOfInput(linksWithin(job), input.path);
    for await (const payload of payloadsOf(input.path, cut)) {
      yield object.add(payload);
    }
  } catch (error) {
    problem = `${error instanceof TensorError ? 'cannot be split' : 'cannot read it'}: ${explain(error)}`;
  }
  yield async () => {
    const failure = await object.finish(problem);
    if (info && !failure) await run.madeOf.add(input.key, info, content.value());
    settle(run, input, failure);
  };
}
