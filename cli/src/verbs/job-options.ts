/** What the verbs about a started job have in common. */
import { isManifest } from '@sagemaker-tfs/batch';
import { type Command, Option } from 'commander';
import type { TransformPlaces } from '../batch/aws/transform-places.ts';
import { usageError } from '../errors.ts';

/** Options of all of them. */
export interface Shared {
  readonly region?: string;
  readonly json?: true;
}

/** What `batch start` was given as its engine. */
export type Engine = 'transform' | 'processing' | 'batch';

export const JOB = "name of the transform job, or ARN of a state machine's execution";
export const ANY_JOB = `${JOB}; of a worker, name of the Processing job or id of the AWS Batch job`;

/** Adds the options of all of them. */
export function shared(command: Command): Command {
  return command
    .option('--region <region>', 'default: the one of the environment')
    .option('--json', 'print the result as JSON')
    .exitOverride();
}

export function engineOption(): Option {
  return new Option('--engine <name>', 'what batch start was given')
    .choices(['transform', 'processing', 'batch'] satisfies Engine[])
    .default('transform');
}

/** Places that are named instead of a job. @throws CommandError USAGE if one of them is not */
export function placesOf(inputUri?: string, outputUri?: string): TransformPlaces {
  if (!inputUri || !outputUri)
    throw usageError(
      'neither a job nor a place is named. Name a job, or give --input-uri and --output-uri.',
    );
  const dataType = isManifest(inputUri) ? 'ManifestFile' : 'S3Prefix';
  return { inputUri, outputUri, dataType };
}
