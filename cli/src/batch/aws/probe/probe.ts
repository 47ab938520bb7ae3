/** Finds out with a real job what AWS's documents leave open, and keeps it for later runs. */

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DeleteObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { StopTransformJobCommand } from '@aws-sdk/client-sagemaker';
import {
  asDirectory,
  FACTS_KEY,
  formatS3Uri,
  otherCause,
  parseS3Uri,
  RUNS_FOLDER,
  type S3Location,
  type TransformFacts,
} from '@sagemaker-tfs/batch';
import { listObjects } from '@sagemaker-tfs/batch/s3';
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import { CommandError } from '../../../errors.ts';
import { isNotWatched } from '../await-instances.ts';
import type { AwsClients } from '../clients.ts';
import type { TransformJob } from '../described-job.ts';
import { type StartOptions, startJob } from '../start.ts';
import { describe, hasEnded } from '../transform-job.ts';
import { factsOf, type ProbeQuestion, QUESTIONS } from './findings.ts';
import { type ProbeObject, type ProbeSamples, paddedManifest, probeObjects } from './objects.ts';

/** What is probed, and how. */
export interface ProbeOptions extends Omit<StartOptions, 'inputUri' | 'dataType'> {
  /** Output prefix of the runs that the facts are for. */
  readonly outputUri: string;
  readonly samples: Omit<ProbeSamples, 'maxPayloadInMB'>;
  readonly intervalSeconds: number;
  readonly signal: AbortSignal;
  /** Called when a job has begun and at each look at it. */
  readonly onProgress?: (job: string, status: string) => void;
}

/** What a probe found. */
export interface ProbeReport {
  readonly facts: TransformFacts;
  /** Where they are kept. */
  readonly factsUri: string;
  /** Its jobs; the last one has made outputs. */
  readonly jobs: readonly TransformJob[];
  /** What could not be deleted. */
  readonly leftUri?: string;
}

/**
 * Puts twelve objects below the output prefix, runs a job over them (up to three more if it makes nothing), keeps the
 * facts, and deletes the objects. A job that failed for lack of capacity is run again, up to twice.
 * @throws CommandError PROBE_FAILED if no job makes an output, or one fails of something else than its inputs
 */
export async function probe(clients: AwsClients, options: ProbeOptions): Promise<ProbeReport> {
  const output = asDirectory(parseS3Uri(options.outputUri));
  const place = { ...output, key: `${output.key}${RUNS_FOLDER}probe/${randomUUID()}/` };
  const inputs = { ...place, key: `${place.key}in/` };
  const objects = probeObjects({ ...options.samples, maxPayloadInMB: options.maxPayloadInMB });
  let left = false;
  try {
    for (const { key, body } of objects) {
      if (body) await put(clients.s3, { ...inputs, key: inputs.key + key }, body);
    }
    const found = await askInTurn(clients, options, place, inputs, objects);
    const target = { ...output, key: output.key + FACTS_KEY };
    await put(clients.s3, target, Buffer.from(JSON.stringify(found.facts)));
    left = !(await remove(clients.s3, place));
    return {
      ...found,
      factsUri: formatS3Uri(target),
      ...(left && { leftUri: formatS3Uri(place) }),
    };
  } catch (error) {
    await remove(clients.s3, place);
    throw error;
  }
}

async function askInTurn(
  clients: AwsClients,
  options: ProbeOptions,
  place: S3Location,
  inputs: S3Location,
  objects: readonly ProbeObject[],
): Promise<Pick<ProbeReport, 'facts' | 'jobs'>> {
  const jobs: TransformJob[] = [];
  for (const [number, question] of QUESTIONS.entries()) {
    const here = { ...place, key: `${place.key}${number}/` };
    const asked = await askAgain(here, (again) =>
      runJob(clients, options, question, again, inputs, objects),
    );
    jobs.push(...asked.jobs);
    const { job } = asked;
    const outputs = await outputsBelow(clients.s3, { ...asked.here, key: `${asked.here.key}out/` });
    if (outputs.length === 0) continue;
    const { createdAt, startedAt } = job;
    const startSeconds = startedAt && (startedAt.getTime() - createdAt.getTime()) / 1_000;
    const facts = factsOf(objects, { question, outputs, inputRoot: inputs.key, startSeconds });
    return { facts, jobs };
  }
  const reason = jobs.at(-1)?.failureReason ?? 'SageMaker gave no reason';
  throw new CommandError(
    'PROBE_FAILED',
    `none of ${jobs.length} jobs made an output, the last one not even of good inputs: ${sentence(reason)} See that the model answers --sample, for example with sagemaker-tfs invoke.`,
    { details: { jobs: jobs.map(({ name }) => name) } },
  );
}

/** Jobs for one question at most, where the first ones fail of something else. */
const TRIES = 3;

/**
 * Runs a job until it says something about its inputs: one that failed for lack of capacity says nothing of them.
 * @throws CommandError PROBE_FAILED if none does
 */
async function askAgain(
  here: S3Location,
  run: (here: S3Location) => Promise<TransformJob>,
): Promise<{ job: TransformJob; jobs: TransformJob[]; here: S3Location }> {
  const jobs: TransformJob[] = [];
  for (let tries = 1; ; tries++) {
    const again = { ...here, key: `${here.key.slice(0, -1)}${'abc'[tries - 1]}/` };
    const job = await run(again);
    jobs.push(job);
    const reason = job.failureReason ?? 'SageMaker gave no reason';
    const other = job.status === 'Failed' ? otherCause(reason) : undefined;
    if (job.status !== 'Stopped' && other === undefined) return { job, jobs, here: again };
    if (other === 'passing' && tries < TRIES) continue;
    const what =
      job.status === 'Stopped'
        ? 'was stopped from outside.'
        : `failed of something else than its inputs: ${sentence(reason)}`;
    throw new CommandError(
      'PROBE_FAILED',
      `the job ${job.name} ${what} Nothing is kept. Run it again${other === 'lasting' ? ' once that is mended' : ' later, or with another --instance-type'}.`,
      { details: { jobs: jobs.map(({ name }) => name) } },
    );
  }
}

async function runJob(
  clients: AwsClients,
  options: ProbeOptions,
  { kinds, manifestBytes }: ProbeQuestion,
  here: S3Location,
  inputs: S3Location,
  objects: readonly ProbeObject[],
): Promise<TransformJob> {
  const manifest = { ...here, key: `${here.key}probe.manifest` };
  const keys = objects.filter(({ kind }) => kinds.includes(kind)).map(({ key }) => key);
  await put(clients.s3, manifest, paddedManifest(formatS3Uri(inputs), keys, manifestBytes));
  const jobName = `${options.jobName}-${here.key.split('/').at(-2)}`;
  try {
    await startJob(
      clients,
      {
        ...options,
        jobName,
        inputUri: formatS3Uri(manifest),
        dataType: 'ManifestFile',
        outputUri: formatS3Uri({ ...here, key: `${here.key}out/` }),
      },
      { missingOnly: false, existing: 'older' },
    );
  } catch (error) {
    throw isNotWatched(error) ? await stopAfter(clients, jobName, error) : error;
  }
  return untilEnded(clients, jobName, options);
}

/** Waits for a job; stops it if the command is interrupted, or can look at it no more: it is paid for while it runs. */
async function untilEnded(
  clients: AwsClients,
  name: string,
  { intervalSeconds, signal, onProgress }: ProbeOptions,
): Promise<TransformJob> {
  try {
    for (;;) {
      const job = await describe(clients, name);
      onProgress?.(name, job.status);
      if (hasEnded(job)) return job;
      await sleep(intervalSeconds * 1_000, undefined, { signal });
    }
  } catch (error) {
    const told = await stopAfter(clients, name, error);
    throw signal.aborted ? signal.reason : told;
  }
}

/** Stops a job that nobody looks at after an error. @returns that error, or one that says how to stop the job */
async function stopAfter(
  { sagemaker }: AwsClients,
  name: string,
  error: unknown,
): Promise<unknown> {
  try {
    await sagemaker.send(new StopTransformJobCommand({ TransformJobName: name }));
    return error;
  } catch {
    const problem = sentence(error instanceof Error ? error.message : String(error));
    return new CommandError(
      'PROBE_FAILED',
      `${problem} The job ${name} may still run. Stop it: aws sagemaker stop-transform-job --transform-job-name ${name}.`,
      { cause: error },
    );
  }
}

/** Keys below a prefix, without what `startJob` writes there. */
async function outputsBelow(s3: S3Client, place: S3Location): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of listObjects(s3, place)) {
    const name = key.slice(place.key.length);
    if (!name.startsWith(RUNS_FOLDER)) keys.push(name);
  }
  return keys;
}

async function put(s3: S3Client, { bucket, key }: S3Location, body: Uint8Array): Promise<void> {
  await s3.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: body }));
}

/** @returns false if something is left: not everyone who may write may delete */
async function remove(s3: S3Client, place: S3Location): Promise<boolean> {
  try {
    const keys: string[] = [];
    for await (const { key } of listObjects(s3, place)) keys.push(key);
    for (const Key of keys) await s3.send(new DeleteObjectCommand({ Bucket: place.bucket, Key }));
    return true;
  } catch {
    return false;
  }
}
