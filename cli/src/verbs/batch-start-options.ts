/** The options of `batch start`, and which ways of starting take them. */
import { EXISTING, type Existing } from '@sagemaker-tfs/batch';
import { fallbackTypes } from '@sagemaker-tfs/batch/instance-types';
import {
  ASSEMBLIES,
  type AssembleWith,
  BATCH_STRATEGIES,
  DATA_TYPES,
  DEFAULT_SETTINGS,
  SETTING_RULES,
  SPLIT_TYPES,
} from '@sagemaker-tfs/batch/settings';
import { type Command, Option } from 'commander';
import type { StartOptions } from '../batch/aws/start.ts';
import { usageError } from '../errors.ts';
import { keyValue, list, positive, wholeNumber } from './options.ts';

type JobOptions = Omit<
  StartOptions,
  'jobName' | 'dataType' | 'environment' | 'tags' | 'maxPayloadInMB' | 'fallbacks' | 'patience'
>;

/** What was given. */
export type Options = Omit<
  JobOptions,
  'modelName' | 'inputUri' | 'outputUri' | 'contentType' | 'assembleWith'
> & {
  readonly assembleWith?: AssembleWith;
  readonly contentType?: string;
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
  readonly waitForInstances?: number;
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
  readonly waitMinutes?: number;
}

/** Adds them all. */
export function addStartOptions(start: Command): void {
  start
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
  addResources(start);
  addRequests(start);
  addMachine(start);
  addWorkers(start);
  start
    .optionsGroup('Other options:')
    .option('--env <name=value>', 'a variable of the containers (repeatable)', keyValue)
    .option('--tag <name=value>', 'a tag of the job (repeatable)', keyValue)
    .option(
      '--kms-key-id <key>',
      'encrypts the outputs, and the volume if the instances have no disks of their own; the role of the model needs kms:GenerateDataKey and kms:Decrypt, and you need kms:CreateGrant for the volume',
    )
    .option('--region <region>', 'default: the one of the environment')
    .option('--json', 'print the result as JSON');
}

function addMachine(start: Command): void {
  start
    .optionsGroup('State machine, which also shards:')
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
      'inputs of one job at most, 0 for one job over all',
      wholeNumber(0),
    )
    .option(
      '--minutes-per-shard <number>',
      'minutes of work of one job, by the rate of the first small shard; --objects-per-shard is then the most; 0 for just that',
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
      '--budget-instance-hours <number>',
      'instance hours after which a sharded run starts no more jobs',
      wholeNumber(),
    )
    .option(
      '--wait-minutes <number>',
      'wait so long for another run over the same outputs (default: fail at once)',
      wholeNumber(0, SETTING_RULES.waitMinutes.max),
    );
}

function addWorkers(start: Command): void {
  start
    .optionsGroup('Batch worker (--engine processing or batch):')
    .option('--job-queue <name>', 'queue of a BatchWorker, by name or ARN (--engine batch)')
    .option('--job-definition <name>', 'its job, by name or ARN (--engine batch)')
    .option(
      '--budget-hours <number>',
      'hours of all workers together, restarts included, after which they end (--engine processing)',
      positive,
    )
    .option(
      '--notices-at <percentages>',
      'such as 10,50,90: parts of the ranges at which the topic receives a progress message (--engine processing)',
    )
    .option('--notice-topic <arn>', 'topic of SNS for --notices-at');
}

function addResources(start: Command): void {
  start
    .optionsGroup('Instances:')
    .option('--instance-type <type>', 'instances of the job', DEFAULT_SETTINGS.instanceType)
    .option(
      '--fallback-instance-type <type>',
      `to continue with where --instance-type is refused or at its quota (repeatable; default: for ml.p3, which AWS is taking away, ${fallbackTypes(DEFAULT_SETTINGS.instanceType).join(', then ')})`,
      list,
    )
    .option(
      '--wait-for-instances <minutes>',
      'of a transform job, wait until it has its instances: with the next type if it fails for want of capacity, or has none after these minutes',
      positive,
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
    .optionsGroup('Requests:')
    .option(
      '--content-type <type>',
      'media type of the inputs (default: by the endings of the first keys)',
    )
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
      new Option(
        '--assemble-with <what>',
        'what follows the answer to each request (default: Line for JSON of objects that are cut into records, else None)',
      ).choices(ASSEMBLIES),
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

/** How the work is started, with what says so on the command line. */
const WAYS = {
  job: 'a transform job',
  machine: '--state-machine',
  processing: '--engine processing',
  batch: '--engine batch',
} as const;
export type Way = keyof typeof WAYS;

const NO_BATCH: readonly Way[] = ['job', 'machine', 'processing'];
const NO_WORKER: readonly Way[] = ['job', 'machine'];
const NO_MACHINE: readonly Way[] = ['job', 'processing'];
const MACHINE: readonly Way[] = ['machine'];

/** Which ways take an option; those that all take are not here. */
const TAKEN_BY: { readonly [Name in keyof Options]?: readonly Way[] } = {
  stateMachine: NO_WORKER,
  missingOnly: ['job'],
  jobQueue: ['batch'],
  jobDefinition: ['batch'],
  budgetHours: ['processing'],
  noticesAt: ['processing'],
  noticeTopic: ['processing'],
  inventory: MACHINE,
  objectsPerShard: MACHINE,
  minutesPerShard: MACHINE,
  maxConcurrentJobs: MACHINE,
  runId: MACHINE,
  allowEmpty: MACHINE,
  budgetInstanceHours: MACHINE,
  waitMinutes: MACHINE,
  keySuffix: ['machine', 'processing'],
  maxFailurePercent: ['machine', 'processing'],
  existing: NO_WORKER,
  dataType: NO_WORKER,
  splitType: NO_WORKER,
  batchStrategy: NO_WORKER,
  assembleWith: NO_WORKER,
  maxPayload: NO_WORKER,
  transformAmiVersion: NO_WORKER,
  invocationsTimeoutInSeconds: NO_WORKER,
  invocationsMaxRetries: NO_WORKER,
  modelName: NO_MACHINE,
  kmsKeyId: NO_MACHINE,
  tag: ['job', 'processing', 'batch'],
  instanceType: NO_BATCH,
  fallbackInstanceType: NO_BATCH,
  fallbacks: NO_BATCH,
  waitForInstances: ['job'],
  contentType: NO_BATCH,
  accept: NO_BATCH,
  maxConcurrentTransforms: NO_BATCH,
};

/** What to do with a setting of the state machine's own. */
const DEPLOYED = 'Set it where the state machine is deployed.';

/** What to do about an option of jobs that the other ways have no setting for. */
const INSTEAD: Readonly<Record<string, string>> = {
  missingOnly: 'Leave it out; a state machine continues the run of its --run-id.',
  waitForInstances: 'Leave it out; only a transform job without a state machine can be waited for.',
};

/** The way that the options ask for. */
export function wayOf({ engine, stateMachine }: Options): Way {
  if (engine !== 'transform') return engine;
  return stateMachine === undefined ? 'job' : 'machine';
}

/** @throws CommandError USAGE for an option that this way does not take */
export function refuseOthers(command: Command, way: Way): void {
  for (const option of command.options) {
    const name = option.attributeName();
    const ways = TAKEN_BY[name as keyof Options] ?? [way];
    if (ways.includes(way) || command.getOptionValueSource(name) !== 'cli') continue;
    if (!ways.includes('job')) {
      throw usageError(
        `${option.long} needs ${ways.map((one) => WAYS[one]).join(' or ')}. Add it, or leave ${option.long} out.`,
      );
    }
    const instead = INSTEAD[name] ?? (way === 'machine' ? DEPLOYED : 'Leave it out.');
    throw usageError(`${option.long} cannot be given with ${WAYS[way]}. ${instead}`);
  }
}

/**
 * Most workers of an array job.
 * @see https://docs.aws.amazon.com/batch/latest/userguide/array_jobs.html
 */
const MAX_CHILDREN = 10_000;

/** @throws CommandError USAGE for more instances, or workers, than AWS takes */
export function refuseTooMany({ instanceCount }: Options, way: Way): void {
  const most = way === 'batch' ? MAX_CHILDREN : SETTING_RULES.instanceCount.max;
  if (instanceCount <= most) return;
  const whose = way === 'batch' ? 'an array job of AWS Batch' : 'a job of SageMaker';
  throw usageError(
    `--instance-count ${instanceCount} is more than ${whose} takes. Give ${most} or fewer.`,
  );
}
