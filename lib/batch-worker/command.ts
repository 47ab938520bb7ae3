/** What a worker's container is started with. */
import type { BatchWorkerProps } from './props.ts';

/** Parameters of the job definition; whoever submits a job may give others. */
export interface WorkerParameters {
  readonly input: string;
  readonly output: string;
}

/** Defaults that the construct shares with its checks. */
export const DEFAULT_WORKERS = 8;
const RANGES_OF_A_WORKER = 8;
const FEWEST_RANGES = 64;
const MOST_RANGES = 10_000;

/** @returns how many ranges the keys are cut into */
export function rangesOf({ ranges, workers = DEFAULT_WORKERS }: BatchWorkerProps): number {
  return ranges ?? Math.min(MOST_RANGES, Math.max(FEWEST_RANGES, RANGES_OF_A_WORKER * workers));
}

/** Arguments of the image. AWS Batch puts the job's parameters where `Ref::` names them. */
export function workerCommand(props: BatchWorkerProps, archiveUri: string): string[] {
  const { contentType = 'application/x-image', accept = 'application/json' } = props;
  const { keySuffix, maxFailurePercent } = props;
  return [
    'batch-worker',
    `--model-path=${archiveUri}`,
    ...['--input', 'Ref::input', '--output', 'Ref::output'],
    `--content-type=${contentType}`,
    `--accept=${accept}`,
    `--ranges=${rangesOf(props)}`,
    ...(keySuffix === undefined ? [] : [`--key-suffix=${keySuffix}`]),
    ...(maxFailurePercent === undefined ? [] : [`--max-failure-percent=${maxFailurePercent}`]),
  ];
}

/** Places as parameters. */
export function workerParameters({ input, output }: BatchWorkerProps): WorkerParameters {
  return {
    input: input.bucket.s3UrlForObject(input.prefix),
    output: output.bucket.s3UrlForObject(output.prefix),
  };
}
