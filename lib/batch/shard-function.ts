/** The function that plans shards and counts outputs. */
import { RUNS_FOLDER } from '@sagemaker-tfs/batch';
import type { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { Duration } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { addFunction } from '../add-function.ts';
import { grantFormerKeys } from '../encryption.ts';
import { allowReadingLogs } from '../model-role.ts';
import { grantReadBelow, grantWriteBelow } from '../s3-access.ts';
import type { BatchTransformProps } from './props.ts';
import { allowListingJobs } from './stop-jobs.ts';

/** Adds the function, with leave to read inputs, outputs and inventories and to write below the output prefix. */
export function createShardFunction(scope: Construct, props: BatchTransformProps): NodejsFunction {
  const { input, output, inventory } = props;
  const description = 'Plans the shards of a batch transform and counts its outputs';
  const size = { memorySize: 1024, timeout: Duration.minutes(15) };
  const { handler, role } = addFunction(scope, 'shards', { description, ...size }, 'Shard');
  grantReadBelow(role, input.bucket, input.prefix);
  grantReadBelow(role, output.bucket, output.prefix);
  if (inventory) grantReadBelow(role, inventory.bucket, inventory.prefix);
  grantFormerKeys(scope, role);
  allowReadingLogs(role);
  allowListingJobs(role);
  // An execution may name a prefix below that of the outputs.
  grantWriteBelow(role, output.bucket, `${output.prefix}*${RUNS_FOLDER}`);
  return handler;
}
