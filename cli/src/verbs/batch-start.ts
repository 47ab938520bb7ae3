import { randomUUID } from 'node:crypto';
import type { S3Client } from '@aws-sdk/client-s3';
import { isManifest } from '@sagemaker-tfs/batch';
import { amiFor } from '@sagemaker-tfs/batch/ami';
import { fallbackTypes } from '@sagemaker-tfs/batch/instance-types';
import { defaultAssembly, type FallbackType } from '@sagemaker-tfs/batch/settings';
import type { Command } from 'commander';
import type { withAws } from '../batch/aws/clients.ts';
import type { StartOptions } from '../batch/aws/start.ts';
import { usageError } from '../errors.ts';
import { commandName } from '../output/command-name.ts';
import { printResult } from '../output/print.ts';
import { whileWaiting } from '../output/progress.ts';
import { warn } from '../output/warn.ts';
import {
  addStartOptions,
  type Options,
  refuseOthers,
  refuseTooMany,
  wayOf,
} from './batch-start-options.ts';
import { refuseConflicts } from './refuse-conflicts.ts';

/** `batch start`: a transform job of SageMaker, or the state machine that runs such jobs. */
export function addBatchStart(batch: Command): void {
  const start = batch
    .command('start')
    .description(
      'start a SageMaker transform job over an S3 prefix or a manifest, or the state machine of a BatchTransform',
    );
  addStartOptions(start);
  start.action(batchStart).exitOverride();
}

async function batchStart(options: Options, command: Command): Promise<void> {
  if (!options.fallbacks && options.fallbackInstanceType) {
    throw usageError('--no-fallbacks and --fallback-instance-type say the opposite. Give one.');
  }
  const way = wayOf(options);
  refuseOthers(command, way);
  refuseTooMany(options, way);
  if (way === 'batch') await startOnBatch(options, command);
  else if (way === 'processing') await startWorkerJob(options);
  else if (way === 'machine') await startMachine(options, command);
  else await startTransformJob(options);
}

/** Runs `work` with clients of AWS, and says in a terminal that it waits. */
const asking: typeof withAws = async (region, work) => {
  const clients = await import('../batch/aws/clients.ts');
  return whileWaiting('Asking AWS', () => clients.withAws(region, work));
};

async function startOnBatch(options: Options, command: Command): Promise<void> {
  const { jobQueue, jobDefinition, inputUri, outputUri, region, json, env, tag } = options;
  if (!jobQueue || !jobDefinition) {
    throw usageError(
      '--engine batch has no queue or no definition. Give --job-queue and --job-definition of a BatchWorker.',
    );
  }
  if (command.getOptionValueSource('instanceCount') !== 'cli') {
    throw usageError(
      '--engine batch does not know how many workers to start. Give --instance-count.',
    );
  }
  if (inputUri !== undefined && outputUri !== undefined) {
    const { outputsAsInputs } = await import('../batch/worker/outputs-as-inputs.ts');
    // The job definition may have a key suffix.
    const remark = outputsAsInputs(inputUri, outputUri, undefined);
    if (remark !== undefined) warn(remark);
  }
  const { requireFreeOutputs } = await import('../batch/aws/hold-outputs.ts');
  const { outputsOf, startBatchJob } = await import('../batch/aws/start-batch-job.ts');
  const jobName = options.jobName ?? nameOf('worker', new Date());
  const workers = options.instanceCount;
  const places = { inputUri, outputUri };
  const own = { region, environment: env ?? {}, tags: tag ?? {} };
  const { jobId, writesTo } = await asking(region, async (clients) => {
    const outputs =
      outputUri === undefined ? await outputsOf({ jobDefinition, region }) : { outputUri };
    const remark =
      outputs.outputUri === undefined
        ? outputs.remark
        : await requireFreeOutputs(clients, outputs.outputUri);
    if (remark) warn(remark);
    const job = { jobName, jobQueue, jobDefinition, workers, ...places, ...own };
    return { jobId: await startBatchJob(job), writesTo: outputs.outputUri };
  });
  printResult(
    json,
    { started: true, jobName, jobId, workers },
    () =>
      `Started ${jobName} (${jobId}) with ${workers} workers. When it has ended: ${commandName()} batch verify --input-uri ${inputUri ?? 'S3-URI'} --output-uri ${writesTo ?? 'S3-URI'}`,
  );
}

async function startWorkerJob(options: Options): Promise<void> {
  const { keySuffix, maxFailurePercent, budgetHours, noticesAt, noticeTopic } = options;
  const ofWorkers = { keySuffix, maxFailurePercent, budgetHours, noticesAt, noticeTopic };
  const job = { ...jobOf(options), ...ofWorkers };
  const { startProcessing } = await import('../batch/aws/start-processing.ts');
  const { checkWorkerPlaces, refuseOutputsAmongInputs } = await import(
    '../batch/aws/check-places.ts'
  );
  refuseOutputsAmongInputs(job);
  const instanceType = await asking(options.region, async (clients) => {
    const decided = { ...job, contentType: await contentTypeOf(clients.s3, job) };
    await checkWorkerPlaces(clients.s3, decided);
    return startProcessing(clients, decided);
  });
  const { jobName, inputUri, outputUri } = job;
  printResult(
    options.json,
    { started: true, jobName, instanceType },
    () =>
      `Started ${jobName} on ${instanceType}. When it has ended: ${commandName()} batch verify --input-uri ${inputUri} --output-uri ${outputUri}`,
  );
}

/** Settings of the state machine (`batch/src/settings.ts`) that have another name than their option. */
const SETTING_NAMES: Readonly<Record<string, string>> = {
  maxPayload: 'maxPayloadInMB',
  env: 'environment',
  inventory: 'inventoryUri',
};
/** Options that say how to start, and are no settings. */
const NO_SETTINGS = new Set(['engine', 'stateMachine', 'jobName', 'region', 'json']);

async function startMachine(options: Options, command: Command): Promise<void> {
  const input: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    // The machine has defaults of its own.
    if (NO_SETTINGS.has(name) || command.getOptionValueSource(name) !== 'cli') continue;
    if (name === 'fallbacks') input.fallbacks = [];
    else if (name === 'fallbackInstanceType')
      input.fallbacks = options.fallbackInstanceType?.map(settingOf);
    else input[SETTING_NAMES[name] ?? name] = value;
  }
  if (options.dataType === undefined && isManifest(options.inputUri ?? '')) {
    input.dataType = 'ManifestFile';
  }
  const { startExecution } = await import('../batch/aws/start-execution.ts');
  const { region, json, stateMachine = '' } = options;
  const name = options.jobName ?? `${nameOf('batch', new Date())}-${randomUUID().slice(0, 8)}`;
  const execution = await asking(region, ({ sfn }) =>
    startExecution(sfn, { stateMachine, name, input, region }),
  );
  printResult(
    json,
    { started: true, execution, input },
    () => `Started ${execution}. Follow it with: ${commandName()} batch watch ${execution}`,
  );
}

async function startTransformJob(options: Options): Promise<void> {
  const { startJob } = await import('../batch/aws/start.ts');
  const { region, json, missingOnly = false } = options;
  const again = { missingOnly, existing: existingOf(options) };
  const job = jobOf(options);
  const { refuseOutputsAmongInputs } = await import('../batch/aws/check-places.ts');
  refuseOutputsAmongInputs({ ...job, keySuffix: undefined });
  const { splitType, batchStrategy, accept, assembleWith, contentType } = job;
  refuseConflicts({
    ...{ splitType, batchStrategy, accept, assembleWith },
    ...(contentType !== undefined && { contentType }),
  });
  const result = await asking(region, async (clients) => {
    const decided = { ...job, contentType: await contentTypeOf(clients.s3, job) };
    return startJob(clients, decided, again);
  });
  printResult(json, result, () => {
    if (!result.started) return 'Every input has an output: nothing to do.';
    const { jobName, instanceType, missing, stale = 0 } = result;
    const why = stale > 0 ? `, ${stale} of them with one that does not count` : '';
    const which = missing === undefined ? '' : ` over ${missing} inputs without an output${why}`;
    return `Started ${jobName} on ${instanceType}${which}. Follow it with: ${commandName()} batch watch ${jobName}`;
  });
}

/** @throws CommandError USAGE if all outputs are made again anyway */
function existingOf({ existing = 'older', missingOnly }: Options) {
  if (existing === 'replace') {
    if (missingOnly)
      throw usageError('--existing replace makes all outputs again. Leave out --missing-only.');
    return 'older';
  }
  if (existing !== 'older' && !missingOnly) {
    throw usageError(
      `--existing ${existing} needs --missing-only or --state-machine. A plain job makes every output again.`,
    );
  }
  return existing;
}

type Job = Omit<StartOptions, 'contentType'> & {
  readonly contentType?: string | undefined;
  readonly keySuffix?: string | undefined;
};

/** The type that was given, or that of the first inputs. */
async function contentTypeOf(s3: S3Client, job: Job): Promise<string> {
  if (job.contentType !== undefined) return job.contentType;
  const { typeOfPlaces } = await import('../batch/aws/input-type.ts');
  return typeOfPlaces(s3, job);
}

/** @throws CommandError USAGE for what a job needs */
function jobOf(options: Options): Job {
  const { modelName, inputUri, outputUri, env, tag, maxPayload, instanceType } = options;
  const fallbacks = options.fallbacks
    ? (options.fallbackInstanceType ?? fallbackTypes(instanceType))
    : [];
  if (!modelName || !inputUri || !outputUri) {
    throw usageError(
      'the job is not fully named. Give --model-name, --input-uri and --output-uri, or --state-machine.',
    );
  }
  return {
    ...options,
    modelName,
    inputUri,
    outputUri,
    jobName: options.jobName ?? nameOf(modelName, new Date()),
    dataType: options.dataType ?? (isManifest(inputUri) ? 'ManifestFile' : 'S3Prefix'),
    maxPayloadInMB: maxPayload,
    assembleWith: options.assembleWith ?? defaultAssembly(options),
    transformAmiVersion: options.transformAmiVersion ?? amiFor(instanceType),
    fallbacks: fallbacks.map((type) => ({ instanceType: type, transformAmiVersion: amiFor(type) })),
    environment: env ?? {},
    tags: tag ?? {},
    patience: patienceOf(options),
  };
}

/** Minutes between two looks at a job that waits for its instances. */
const LOOK_EVERY = 0.25;

function patienceOf({ waitForInstances: minutes }: Options): StartOptions['patience'] {
  return minutes === undefined
    ? undefined
    : { minutes, every: Math.min(minutes, LOOK_EVERY) * 60_000 };
}

/** A fallback as the state machine's settings have it. */
function settingOf(instanceType: string): FallbackType {
  return { instanceType, transformAmiVersion: amiFor(instanceType) ?? '' };
}

/** A name that SageMaker takes: letters, digits and hyphens, 63 at most. */
function nameOf(modelName: string, now: Date): string {
  const time = now.toISOString().slice(0, 19).replace(/\D/g, '');
  const start = modelName.replace(/[^A-Za-z0-9]+/g, '-').slice(0, 63 - time.length - 1);
  return `${start.replace(/^-|-$/g, '')}-${time}`;
}
