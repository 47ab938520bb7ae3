/** The settings of a batch worker: the arguments behind `batch-worker`. */
import { existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  asDirectory,
  BatchError,
  isManifest,
  MAX_RANGES,
  MEGABYTE,
  NOTICE_PERCENTS,
  PACK_FORMATS,
  type PackFormat,
  parseS3Uri,
  parseShare,
  WORKER_DEFAULTS,
} from '@sagemaker-tfs/batch';
import * as z from 'zod';

/** A worker's settings, checked. */
export interface WorkerOptions {
  /** Archive or folder of the model; undefined if the model directory of the environment has it. */
  readonly modelPath: string | undefined;
  /** S3 prefix of the inputs. */
  readonly inputUri: string;
  /** S3 URI of the `manifest.json` of an S3 inventory that lists the inputs; undefined if the prefix is listed. */
  readonly inventoryUri: string | undefined;
  /** S3 prefix of what is written. */
  readonly outputUri: string;
  /** End of the keys that are taken; empty for all. */
  readonly keySuffix: string;
  /** Framing in which the inputs themselves are written; undefined if they are asked about. */
  readonly pack: PackFormat | undefined;
  /** Media type of the inputs; empty for what is packed. */
  readonly contentType: string;
  readonly accept: string | undefined;
  readonly customAttributes: string;
  /** Numbers of the plan's ranges, both included; undefined for those of the share. */
  readonly range: { readonly from: number; readonly to: number } | undefined;
  /** This worker takes every `of`th range, beginning with `index` (from 0). */
  readonly share: { readonly index: number; readonly of: number };
  /** Ranges of keys that the first worker makes at least, where the keys allow it. */
  readonly ranges: number;
  /** Objects that are read, asked about or wait for those before them at once. */
  readonly reads: number;
  /** Questions to the model at once. */
  readonly inFlight: number;
  /** Keys of a part at most. */
  readonly partKeys: number;
  /** Bytes of a part's answers after which it ends; of a packed part the most, if no single record has more. */
  readonly partBytes: number;
  /** Key of KMS that S3 encrypts with what is written; undefined for the bucket's default. */
  readonly kmsKeyId: string | undefined;
  /** Failed inputs, in percent of those tried, that end the worker. */
  readonly maxFailurePercent: number;
  /** Hours of all workers of the run together, restarts included, after which they end; undefined for no limit. */
  readonly budgetHours: number | undefined;
  /** Percentages of the plan's ranges, of all workers, at which `noticeTopic` receives a progress message. */
  readonly noticesAt: readonly number[];
  /** ARN of a topic of SNS. */
  readonly noticeTopic: string | undefined;
}

const MAX_PART_MB = 1_024;

const TEXT = { type: 'string' } as const;
const OPTIONS = {
  'model-path': TEXT,
  input: TEXT,
  output: TEXT,
  inventory: TEXT,
  'key-suffix': TEXT,
  pack: TEXT,
  'content-type': TEXT,
  accept: TEXT,
  'custom-attributes': TEXT,
  range: TEXT,
  share: TEXT,
  ranges: TEXT,
  reads: TEXT,
  'in-flight': TEXT,
  'part-keys': TEXT,
  'part-mb': TEXT,
  'max-failure-percent': TEXT,
  'kms-key-id': TEXT,
  'budget-hours': TEXT,
  'notices-at': TEXT,
  'notice-topic': TEXT,
} as const;

/**
 * Reads the arguments.
 * @param inFlight questions at once where the arguments leave it open
 * @throws BatchError WORKER_USAGE, S3_URI_INVALID
 */
export function readOptions(
  args: readonly string[],
  inFlight: number,
  variables: NodeJS.ProcessEnv = process.env,
): WorkerOptions {
  const { values } = parsed(args);
  const { input, output } = values;
  if (!input || !output)
    throw usage('Give --input s3://BUCKET/PREFIX and --output s3://BUCKET/PREFIX.');
  checkPlaces(input, output);
  checkInventory(input, values.inventory);
  const contentType = values['content-type'];
  const pack = packOf(values.pack, contentType);
  if (!pack && !contentType) throw usage('Give --content-type, for example application/x-image.');
  const whole = (name: keyof typeof values, limits: WholeNumber) =>
    wholeNumber(name, values[name], limits);
  return {
    modelPath: values['model-path'],
    inputUri: input,
    outputUri: output,
    inventoryUri: values.inventory,
    keySuffix: values['key-suffix'] ?? '',
    pack,
    contentType: contentType ?? '',
    accept: values.accept,
    customAttributes: values['custom-attributes'] ?? '',
    range: rangeOf(values.range),
    share: values.share === undefined ? shareOfMachine(variables) : shareOf(values.share),
    ranges: whole('ranges', { from: 1, to: MAX_RANGES, otherwise: WORKER_DEFAULTS.ranges }),
    reads: whole('reads', { from: 1, to: 4_096, otherwise: WORKER_DEFAULTS.reads }),
    inFlight: whole('in-flight', { from: 1, to: 4_096, otherwise: inFlight }),
    partKeys: whole('part-keys', {
      from: 1,
      to: 1_000_000,
      otherwise: pack ? 1_000_000 : WORKER_DEFAULTS.partKeys,
    }),
    partBytes: Math.round(partMbOf(values['part-mb']) * MEGABYTE),
    maxFailurePercent: whole('max-failure-percent', {
      from: 0,
      to: 100,
      otherwise: WORKER_DEFAULTS.maxFailurePercent,
    }),
    kmsKeyId: keyOf(values['kms-key-id']),
    budgetHours: hoursOf(values['budget-hours']),
    ...noticesOf(values['notices-at'], values['notice-topic']),
  };
}

/** A worker's own files would be among the inputs of the next run. */
function checkPlaces(input: string, output: string): void {
  const [from, to] = [parseS3Uri(input), asDirectory(parseS3Uri(output))];
  if (isManifest(input) || from.bucket !== to.bucket || !from.key.startsWith(to.key)) return;
  throw usage(`--output ${output} holds the inputs. Give another prefix.`);
}

function checkInventory(input: string, inventory: string | undefined): void {
  if (inventory === undefined) return;
  parseS3Uri(inventory);
  if (!isManifest(input)) return;
  throw usage(
    '--input is a manifest, which lists the inputs. Leave out --inventory, or give a prefix.',
  );
}

function packOf(text: string | undefined, contentType: string | undefined) {
  if (text === undefined) return undefined;
  const format = PACK_FORMATS.find((known) => known === text);
  if (!format) throw usage(`--pack is '${text}'. Give one of ${PACK_FORMATS.join(', ')}.`);
  if (contentType !== undefined) {
    throw usage('--pack asks no model. Leave out --content-type, or --pack.');
  }
  return format;
}

/** An id, an ARN or an alias of a key; the API of S3 takes no longer text. */
const KMS_KEY = /^[\w:/-]{1,2048}$/;

function keyOf(text: string | undefined): string | undefined {
  if (text === undefined || KMS_KEY.test(text)) return text;
  throw usage(`--kms-key-id is '${text}'. Give the id, the ARN or the alias of a key of KMS.`);
}

const TOPIC = /^arn:[^:]+:sns:[a-z0-9-]+:\d{12}:[^:]+$/;

function noticesOf(
  at: string | undefined,
  noticeTopic: string | undefined,
): Pick<WorkerOptions, 'noticesAt' | 'noticeTopic'> {
  if ((at === undefined) !== (noticeTopic === undefined)) {
    throw usage('--notices-at and --notice-topic belong together. Give both, or none.');
  }
  if (noticeTopic !== undefined && !TOPIC.test(noticeTopic)) {
    throw usage(`--notice-topic is '${noticeTopic}'. Give the ARN of a topic of SNS.`);
  }
  const limits = { ...NOTICE_PERCENTS, otherwise: 0 };
  const noticesAt = (at?.split(',') ?? []).map((text) => wholeNumber('notices-at', text, limits));
  return { noticesAt, noticeTopic };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, strict: true });
  } catch (cause) {
    throw usage(`${(cause as Error).message}.`, cause);
  }
}

function usage(message: string, cause?: unknown): BatchError {
  return new BatchError('WORKER_USAGE', message, { cause });
}

/** Megabytes, which need not be whole. */
function partMbOf(text: string | undefined): number {
  if (text === undefined) return WORKER_DEFAULTS.partMb;
  const size = Number(text);
  if (size > 0 && size <= MAX_PART_MB) return size;
  throw usage(`--part-mb is '${text}'. Give a number above 0, up to ${MAX_PART_MB}.`);
}

function hoursOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const hours = Number(text);
  if (/^[\d.]+$/.test(text) && hours > 0) return hours;
  throw usage(`--budget-hours is '${text}'. Give a number of hours, such as 40 or 0.5.`);
}

interface WholeNumber {
  /** Smallest and largest, both included. */
  readonly from: number;
  readonly to: number;
  /** Default. */
  readonly otherwise: number;
}

function wholeNumber(
  name: string,
  text: string | undefined,
  { from, to, otherwise }: WholeNumber,
): number {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= from && value <= to) return value;
  throw usage(`--${name} is '${text}'. Give a whole number from ${from} to ${to}.`);
}

function rangeOf(text: string | undefined): WorkerOptions['range'] {
  if (text === undefined) return undefined;
  const [, from, to = from] = /^(\d+)(?:\.\.(\d+))?$/.exec(text) ?? [];
  if (from !== undefined && Number(from) <= Number(to)) {
    return { from: Number(from), to: Number(to) };
  }
  throw usage(`--range is '${text}'. Give numbers of the plan's ranges, such as 0..15.`);
}

function shareOf(text: string): WorkerOptions['share'] {
  const share = parseShare(text);
  if (share) return share;
  throw usage(`--share is '${text}'. Give 1/4 for the first of four workers.`);
}

/** Where a Processing job of SageMaker says which of its instances this is. */
const PROCESSING_CONFIG = '/opt/ml/config/resourceconfig.json';

/** The share of a child of an array job of AWS Batch, or of an instance of a Processing job; else all. */
function shareOfMachine(variables: NodeJS.ProcessEnv): WorkerOptions['share'] {
  const { AWS_BATCH_JOB_ARRAY_INDEX: index, AWS_BATCH_JOB_ARRAY_SIZE: size } = variables;
  if (index !== undefined && size !== undefined) return shareOf(`${Number(index) + 1}/${size}`);
  if (!existsSync(PROCESSING_CONFIG)) return { index: 0, of: 1 };
  return shareOfHost(readFileSync(PROCESSING_CONFIG, 'utf8'));
}

const processingConfig = z
  .object({ current_host: z.string(), hosts: z.array(z.string()) })
  .refine(({ current_host, hosts }) => hosts.includes(current_host));

/**
 * The share of one instance of a Processing job.
 * @param text of the job's resourceconfig.json
 * @throws BatchError WORKER_USAGE
 */
export function shareOfHost(text: string): WorkerOptions['share'] {
  try {
    const { current_host, hosts } = processingConfig.parse(JSON.parse(text));
    return { index: hosts.sort().indexOf(current_host), of: hosts.length };
  } catch (cause) {
    throw usage(
      `${PROCESSING_CONFIG} does not say which of its hosts this is. Give --share.`,
      cause,
    );
  }
}
