import { randomUUID } from 'node:crypto';
import { EXISTING, type Existing, isManifest } from '@sagemaker-tfs/batch';
import { amiFor } from '@sagemaker-tfs/batch/ami';
import { fallbackTypes } from '@sagemaker-tfs/batch/instance-types';
import {
  ASSEMBLIES,
  BATCH_STRATEGIES,
  DATA_TYPES,
  DEFAULT_SETTINGS,
  type FallbackType,
  SETTING_RULES,
  SPLIT_TYPES,
} from '@sagemaker-tfs/batch/settings';
import { type Command, Option } from 'commander';
import type { StartOptions } from '../batch/aws/start.ts';
import { usageError } from '../errors.ts';
import { commandName } from '../output/command-name.ts';
import { printResult } from '../output/print.ts';
import { keyValue, list, positive, wholeNumber } from './options.ts';

type JobOptions = Omit<
  StartOptions,
  'jobName' | 'dataType' | 'environment' | 'tags' | 'maxPayloadInMB' | 'fallbacks'
>;

type Options = Omit<JobOptions, 'modelName' | 'inputUri' | 'outputUri'> & {
  readonly modelName?: string;
  readonly inputUri?: string;
  readonly outputUri?: string;
  readonly maxPayload: number;
  readonly jobName?: string;
  readonly dataType?: StartOptions['dataType'];
  readonly env?: Record<string, string>;
  readonly tag?: Record<string, string>;
  readonly missingOnly?: true;
  readonly fallbackInstanceType?: string[];
  /** False with `--no-fallbacks`. */
  readonly fallbacks: boolean;
  readonly region?: string;
  readonly json?: true;
  readonly stateMachine?: string;
  readonly engine: 'transform' | 'processing' | 'batch';
  readonly jobQueue?: string;
  readonly jobDefinition?: string;
} & MachineOptions;

/** What only the state machine knows. */
interface MachineOptions {
  readonly inventory?: string;
  readonly keySuffix?: string;
  readonly objectsPerShard?: number;
  readonly minutesPerShard?: number;
  readonly maxConcurrentJobs?: number;
  readonly runId?: string;
  readonly existing?: Existing;
  readonly allowEmpty?: true;
  readonly maxFailurePercent?: number;
  readonly budgetHours?: number;
  readonly noticesAt?: string;
  readonly noticeTopic?: string;
  readonly budgetInstanceHours?: number;
}

/** `batch start`: a transform job of SageMaker, or the state machine that runs such jobs. */
export function addBatchStart(batch: Command): void {
  const start = batch
    .command('start')
    .description(
      'start a SageMaker transform job over an S3 prefix or a manifest, or the state machine of a BatchTransform',
    )
    .option('--model-name <name>', 'the SageMaker model')
    .option('--input-uri <s3 uri>', 'prefix of the inputs, or a manifest')
    .option('--output-uri <s3 uri>', 'prefix of the outputs, <name>.out')
    .addOption(
      new Option(
        '--data-type <type>',
        'what the input is (default: a manifest where it ends in .manifest)',
      ).choices(DATA_TYPES),
    )
    .option(
      '--missing-only',
      'only the inputs that have no output of this model and these settings yet',
    )
    .option('--job-name <name>', 'default: the model and the time, or the time')
    .addOption(
      new Option(
        '--engine <name>',
        'what does the work: a transform job, or the batch worker of the image, which packs its answers, as a Processing job or on AWS Batch',
      )
        .choices(['transform', 'processing', 'batch'])
        .default('transform'),
    );
  start
    .option('--job-queue <name>', 'queue of a BatchWorker, by name or ARN (--engine batch)')
    .option('--job-definition <name>', 'its job, by name or ARN (--engine batch)');
  addMachine(start);
  addResources(start);
  addRequests(start);
  start
    .option('--env <name=value>', 'a variable of the containers (repeatable)', keyValue)
    .option('--tag <name=value>', 'a tag of the job (repeatable)', keyValue)
    .option('--kms-key-id <key>', 'encrypts the outputs')
    .option('--region <region>', 'default: the one of the environment')
    .option('--json', 'print the result as JSON')
    .action(batchStart)
    .exitOverride();
}

function addMachine(start: Command): void {
  start
    .option(
      '--state-machine <name>',
      'run through this state machine, by its ARN, its name or that of its stack; settings that are not given are its own',
    )
    .option(
      '--inventory <s3 uri>',
      "manifest.json of an S3 inventory to read instead of listing (state machine's sharded runs)",
    )
    .option('--key-suffix <text>', 'only keys that end so (sharded runs)')
    .option(
      '--objects-per-shard <number>',
      'inputs of one job, 0 for one job over all',
      wholeNumber(0),
    )
    .option(
      '--minutes-per-shard <number>',
      'minutes of work of one job, by the rate of the first small shard; --objects-per-shard is then the most',
      wholeNumber(0, SETTING_RULES.minutesPerShard.max),
    )
    .option('--max-concurrent-jobs <number>', 'jobs at once of a sharded run', wholeNumber())
    .option('--run-id <name>', 'names a sharded run; the same name again continues it')
    .addOption(
      new Option(
        '--existing <what>',
        'outputs that count as done before a sharded run or with --missing-only: not older than model, settings and input; all; none',
      ).choices(EXISTING),
    )
    .option('--allow-empty', 'a sharded run that finds no input succeeds')
    .option(
      '--max-failure-percent <number>',
      'inputs of a shard whose failure stops the run',
      wholeNumber(0, 100),
    )
    .option(
      '--budget-hours <number>',
      'hours of all workers together, restarts included, after which they end (--engine processing)',
      positive,
    )
    .option(
      '--notices-at <percentages>',
      'such as 10,50,90: parts of the ranges at which the topic hears how far a worker is (--engine processing)',
    )
    .option('--notice-topic <arn>', 'topic of SNS for --notices-at')
    .option(
      '--budget-instance-hours <number>',
      'instance hours after which a sharded run starts no more jobs',
      wholeNumber(),
    );
}

function addResources(start: Command): void {
  start
    .option('--instance-type <type>', 'instances of the job', DEFAULT_SETTINGS.instanceType)
    .option(
      '--fallback-instance-type <type>',
      `to go on with where --instance-type is refused or at its quota (repeatable; default: for ml.p3, which AWS is taking away, ${fallbackTypes(DEFAULT_SETTINGS.instanceType).join(', then ')})`,
      list,
    )
    .option('--no-fallbacks', 'run on --instance-type or not at all')
    .option('--instance-count <number>', 'how many', wholeNumber(), DEFAULT_SETTINGS.instanceCount)
    .option(
      '--transform-ami-version <version>',
      'host image (default for GPU instances: one whose driver suits current TensorFlow Serving)',
    );
}

function addRequests(start: Command): void {
  start
    .option('--content-type <type>', 'media type of the inputs', DEFAULT_SETTINGS.contentType)
    .option('--accept <type>', 'media type of the outputs', DEFAULT_SETTINGS.accept)
    .addOption(
      new Option('--split-type <type>', 'how an object is cut into records')
        .choices(SPLIT_TYPES)
        .default(DEFAULT_SETTINGS.splitType),
    )
    .addOption(
      new Option('--batch-strategy <strategy>', 'records in a request')
        .choices(BATCH_STRATEGIES)
        .default(DEFAULT_SETTINGS.batchStrategy),
    )
    .addOption(
      new Option('--assemble-with <what>', 'what follows the answer to each request')
        .choices(ASSEMBLIES)
        .default(DEFAULT_SETTINGS.assembleWith),
    )
    .option(
      '--max-concurrent-transforms <number>',
      'requests at once to each instance',
      wholeNumber(),
      DEFAULT_SETTINGS.maxConcurrentTransforms,
    )
    .option(
      '--max-payload <MB>',
      'largest request',
      wholeNumber(0),
      DEFAULT_SETTINGS.maxPayloadInMB,
    )
    .option(
      '--invocations-timeout-in-seconds <seconds>',
      'time for one request',
      wholeNumber(),
      DEFAULT_SETTINGS.invocationsTimeoutInSeconds,
    )
    .option(
      '--invocations-max-retries <number>',
      'tries after the first',
      wholeNumber(0),
      DEFAULT_SETTINGS.invocationsMaxRetries,
    );
}

async function batchStart(options: Options, command: Command): Promise<void> {
  if (!options.fallbacks && options.fallbackInstanceType) {
    throw usageError('--no-fallbacks and --fallback-instance-type say the opposite. Give one.');
  }
  if (options.engine !== 'processing' && options.budgetHours !== undefined) {
    throw usageError(
      '--budget-hours needs --engine processing. A state machine has --budget-instance-hours, a BatchWorker budgetHours.',
    );
  }
  if (options.engine !== 'processing' && (options.noticesAt || options.noticeTopic)) {
    throw usageError(
      '--notices-at and --notice-topic need --engine processing. Give the construct noticesAt.',
    );
  }
  if (options.engine === 'batch') return startOnBatch(options, command);
  if (options.jobQueue !== undefined || options.jobDefinition !== undefined) {
    throw usageError('--job-queue and --job-definition need --engine batch.');
  }
  if (options.engine === 'processing') await startWorkerJob(options, command);
  else if (options.stateMachine === undefined) await startTransformJob(options);
  else await startMachine(options.stateMachine, options, command);
}

/** Options that a worker has no use for. */
const NOT_OF_WORKERS = {
  stateMachine: '--state-machine',
  missingOnly: '--missing-only',
  existing: '--existing',
  dataType: '--data-type',
  splitType: '--split-type',
  batchStrategy: '--batch-strategy',
  assembleWith: '--assemble-with',
  maxPayload: '--max-payload',
  transformAmiVersion: '--transform-ami-version',
  invocationsTimeoutInSeconds: '--invocations-timeout-in-seconds',
  invocationsMaxRetries: '--invocations-max-retries',
} as const;

/** What the job definition of a `BatchWorker` fixes. */
const FIXED_ON_BATCH = {
  ...NOT_OF_WORKERS,
  ...{ modelName: '--model-name', instanceType: '--instance-type', kmsKeyId: '--kms-key-id' },
  ...{ fallbackInstanceType: '--fallback-instance-type', fallbacks: '--no-fallbacks' },
  ...{ contentType: '--content-type', accept: '--accept', keySuffix: '--key-suffix' },
  ...{ maxConcurrentTransforms: '--max-concurrent-transforms' },
  ...{ maxFailurePercent: '--max-failure-percent', inventory: '--inventory', runId: '--run-id' },
  ...{ objectsPerShard: '--objects-per-shard', minutesPerShard: '--minutes-per-shard' },
  maxConcurrentJobs: '--max-concurrent-jobs',
  ...{ allowEmpty: '--allow-empty', budgetInstanceHours: '--budget-instance-hours' },
} as const;

/** @throws CommandError USAGE for an option that an engine has no use for */
function refuseGiven(
  command: Command,
  flags: Readonly<Record<string, string>>,
  engine: Options['engine'],
): void {
  for (const [name, flag] of Object.entries(flags)) {
    if (command.getOptionValueSource(name) !== 'cli') continue;
    throw usageError(`${flag} cannot be given with --engine ${engine}. Leave it out.`);
  }
}

async function startOnBatch(options: Options, command: Command): Promise<void> {
  refuseGiven(command, FIXED_ON_BATCH, 'batch');
  const { jobQueue, jobDefinition, inputUri, outputUri, region, json, env, tag } = options;
  if (!jobQueue || !jobDefinition) {
    throw usageError('--engine batch needs --job-queue and --job-definition of a BatchWorker.');
  }
  if (command.getOptionValueSource('instanceCount') !== 'cli') {
    throw usageError('--engine batch needs --instance-count, the number of workers.');
  }
  const { withAws } = await import('../batch/aws/clients.ts');
  const { startBatchJob } = await import('../batch/aws/start-batch-job.ts');
  const jobName = options.jobName ?? nameOf('worker', new Date());
  const workers = options.instanceCount;
  const jobId = await withAws(region, () =>
    startBatchJob({
      ...{ jobName, jobQueue, jobDefinition, workers, inputUri, outputUri, region },
      environment: env ?? {},
      tags: tag ?? {},
    }),
  );
  printResult(
    json,
    { started: true, jobName, jobId, workers },
    () =>
      `Started ${jobName} (${jobId}) with ${workers} workers. When it has ended: ${commandName()} batch verify --input-uri ${inputUri ?? 'S3-URI'} --output-uri ${outputUri ?? 'S3-URI'}`,
  );
}

async function startWorkerJob(options: Options, command: Command): Promise<void> {
  refuseGiven(command, NOT_OF_WORKERS, 'processing');
  const { keySuffix, maxFailurePercent, budgetHours, noticesAt, noticeTopic, ...others } = options;
  const ofWorkers = { keySuffix, maxFailurePercent, budgetHours, noticesAt, noticeTopic };
  const job = { ...jobOf(others), ...ofWorkers };
  const { withAws } = await import('../batch/aws/clients.ts');
  const { startProcessing } = await import('../batch/aws/start-processing.ts');
  const instanceType = await withAws(options.region, ({ sagemaker }) =>
    startProcessing(sagemaker, job),
  );
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
const NO_SETTINGS = new Set([
  'engine',
  'jobQueue',
  'jobDefinition',
  'stateMachine',
  'jobName',
  'region',
  'json',
]);
/** What is fixed when the state machine is deployed. */
const FIXED = { modelName: '--model-name', tag: '--tag', kmsKeyId: '--kms-key-id' } as const;

async function startMachine(
  stateMachine: string,
  options: Options,
  command: Command,
): Promise<void> {
  for (const [name, flag] of Object.entries(FIXED)) {
    if (name in options)
      throw usageError(
        `${flag} cannot be given with --state-machine. Set it where the state machine is deployed.`,
      );
  }
  if (options.missingOnly) {
    throw usageError(
      '--missing-only cannot be given with --state-machine. Give the --run-id of the run to continue.',
    );
  }
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
  const { withAws } = await import('../batch/aws/clients.ts');
  const { startExecution } = await import('../batch/aws/start-execution.ts');
  const { region, json } = options;
  const name = options.jobName ?? `${nameOf('batch', new Date())}-${randomUUID().slice(0, 8)}`;
  const execution = await withAws(region, ({ sfn }) =>
    startExecution(sfn, { stateMachine, name, input, region }),
  );
  printResult(
    json,
    { started: true, execution, input },
    () => `Started ${execution}. Follow it with: ${commandName()} batch watch ${execution}`,
  );
}

async function startTransformJob(options: Options): Promise<void> {
  const { withAws } = await import('../batch/aws/clients.ts');
  const { startJob } = await import('../batch/aws/start.ts');
  const { region, json, missingOnly = false } = options;
  const again = { missingOnly, existing: existingOf(options) };
  const job = jobOf(options);
  const result = await withAws(region, (clients) => startJob(clients, job, again));
  printResult(json, result, () => {
    if (!result.started) return 'Every input has an output: nothing to do.';
    const { jobName, instanceType, missing, stale = 0 } = result;
    const why = stale > 0 ? `, ${stale} of them with one that does not count` : '';
    const which = missing === undefined ? '' : ` over ${missing} inputs without an output${why}`;
    return `Started ${jobName} on ${instanceType}${which}. Follow it with: ${commandName()} batch watch ${jobName}`;
  });
}

/** @throws CommandError USAGE where all outputs are made again anyway */
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

/** @throws CommandError USAGE for what only a state machine does, and for what a job needs */
function jobOf(options: Options): StartOptions {
  const { inventory, keySuffix, objectsPerShard, minutesPerShard, ...machineOnly } = options;
  const { maxConcurrentJobs, runId, ...others } = machineOnly;
  const { allowEmpty, maxFailurePercent, budgetInstanceHours, ...rest } = others;
  const machine = {
    ...{ inventory, keySuffix, objectsPerShard, minutesPerShard, maxConcurrentJobs, runId },
    ...{ allowEmpty, maxFailurePercent, budgetInstanceHours },
  };
  const [alone] = Object.entries(machine).find(([, value]) => value !== undefined) ?? [];
  if (alone !== undefined) {
    const flag = alone.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    throw usageError(`--${flag} needs --state-machine.`);
  }
  const { modelName, inputUri, outputUri, env, tag, maxPayload, instanceType } = rest;
  const fallbacks = options.fallbacks
    ? (options.fallbackInstanceType ?? fallbackTypes(instanceType))
    : [];
  if (!modelName || !inputUri || !outputUri) {
    throw usageError(
      'the job is not fully named. Give --model-name, --input-uri and --output-uri, or --state-machine.',
    );
  }
  return {
    ...rest,
    modelName,
    inputUri,
    outputUri,
    jobName: options.jobName ?? nameOf(modelName, new Date()),
    dataType: options.dataType ?? (isManifest(inputUri) ? 'ManifestFile' : 'S3Prefix'),
    maxPayloadInMB: maxPayload,
    transformAmiVersion: options.transformAmiVersion ?? amiFor(instanceType),
    fallbacks: fallbacks.map((type) => ({ instanceType: type, transformAmiVersion: amiFor(type) })),
    environment: env ?? {},
    tags: tag ?? {},
  };
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
