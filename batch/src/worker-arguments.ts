import { DEFAULT_SETTINGS } from './settings.ts';

/** Bytes of a megabyte, where sizes of packed files are given in them. */
export const MEGABYTE = 2 ** 20;

/** What a worker does where its arguments do not say otherwise. */
export const WORKER_DEFAULTS = {
  /** Ranges of the plan. */
  ranges: 64,
  /** Objects that are read at once. */
  reads: 256,
  /** Keys of a part. */
  partKeys: 10_000,
  /** Megabytes of a part's answers after which it ends. */
  partMb: 64,
  maxFailurePercent: DEFAULT_SETTINGS.maxFailurePercent,
} as const;

/** Most ranges that a run is cut into. */
export const MAX_RANGES = 10_000;

/** What the image is started with as a batch worker; `container/src/batch-worker/options.ts` reads it. */
interface WorkerArguments {
  /** Where the worker finds its model: a path of its machine, or an S3 URI. */
  readonly modelPath: string;
  /** S3 prefixes, or what the machine puts in their place. */
  readonly input: string;
  readonly output: string;
  readonly contentType: string;
  readonly accept: string;
  readonly inFlight?: number;
  readonly ranges?: number;
  readonly keySuffix?: string | undefined;
  readonly maxFailurePercent?: number | undefined;
  /** Key of KMS that S3 encrypts with what the worker writes: its id, its ARN, or an alias. */
  readonly kmsKeyId?: string | undefined;
  /** Hours of all workers together, restarts included, after which they end. */
  readonly budgetHours?: number | undefined;
  /** Percentages of the ranges, separated by commas, at which the topic receives a progress message. */
  readonly noticesAt?: string | undefined;
  /** ARN of a topic of SNS. */
  readonly noticeTopic?: string | undefined;
}

/** The arguments as a list. The places stand alone: AWS Batch replaces only arguments that are a reference as a whole. */
export function workerArguments({ input, output, ...others }: WorkerArguments): string[] {
  const flags = Object.entries(others).flatMap(([name, value]) => {
    const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    return value === undefined ? [] : [`--${flag}=${value}`];
  });
  return ['batch-worker', '--input', input, '--output', output, ...flags];
}
