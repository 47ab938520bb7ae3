/** What a worker's container is started with. */
import { MAX_RANGES, workerArguments } from '@sagemaker-tfs/batch';
import { DEFAULT_SETTINGS } from '@sagemaker-tfs/batch/settings';
import type { Construct } from 'constructs';
import { contentTypeOf } from '../batch/content-type.ts';
import { definedOnly } from '../defined-only.ts';
import type { BatchWorkerProps } from './props.ts';

/** Parameters of the job definition; whoever submits a job may give others. */
interface WorkerParameters {
  readonly input: string;
  readonly output: string;
}

/** Defaults that the construct shares with its checks. */
export const DEFAULT_WORKERS = 8;
export const DEFAULT_ATTEMPTS = 10;
const RANGES_OF_A_WORKER = 8;
const FEWEST_RANGES = 64;

/** @returns how many ranges the keys are cut into */
export function rangesOf({ ranges, workers = DEFAULT_WORKERS }: BatchWorkerProps): number {
  return ranges ?? Math.min(MAX_RANGES, Math.max(FEWEST_RANGES, RANGES_OF_A_WORKER * workers));
}

/** Arguments of the image. AWS Batch puts the job's parameters where `Ref::` names them. */
export function workerCommand(
  scope: Construct,
  props: BatchWorkerProps,
  archiveUri: string,
): string[] {
  const { accept } = { ...DEFAULT_SETTINGS, ...definedOnly(props) };
  const { keySuffix, maxFailurePercent, noticesAt, topic, budgetHours } = props;
  const isTold = noticesAt !== undefined && noticesAt.length > 0;
  return workerArguments({
    modelPath: archiveUri,
    input: 'Ref::input',
    output: 'Ref::output',
    contentType: contentTypeOf(scope, props),
    accept,
    ranges: rangesOf(props),
    keySuffix,
    maxFailurePercent,
    budgetHours,
    ...(isTold && { noticesAt: noticesAt.join(), noticeTopic: topic?.topicArn }),
  });
}

/** Places as parameters. */
export function workerParameters({ input, output }: BatchWorkerProps): WorkerParameters {
  return {
    input: input.bucket.s3UrlForObject(input.prefix),
    output: output.bucket.s3UrlForObject(output.prefix),
  };
}
