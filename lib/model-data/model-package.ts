/** Model data and image of a version in SageMaker's Model Registry. */
import { createHash } from 'node:crypto';
import { Stack, Token } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { AnyBucket } from '../cdk-types.ts';
import type { Problem } from '../rules/problem.ts';
import { refuseProblem } from '../validation.ts';

/** Options of `ModelData.fromModelPackage`. */
export interface ModelPackageOptions {
  /** Bucket of its archive, of any account: the model's role is allowed to read it. */
  readonly bucket: AnyBucket;
  /**
   * Prefix of its archive in the bucket, with a `/` at the end.
   * @default - the whole bucket
   */
  readonly prefix?: string;
  /**
   * Fingerprint that `sagemaker-tfs register` printed.
   * @default - the smoke test does not compare it
   */
  readonly fingerprint?: string;
}

const ARN =
  /^arn:aws[a-z-]*:sagemaker:(?<region>[a-z0-9-]+):(?<account>\d{12}):model-package\/[a-zA-Z0-9](?:-*[a-zA-Z0-9]){0,62}\/\d{1,9}$/;

/**
 * What CreateModel would refuse of a model package.
 * @param region where the model is; undefined if synthesis does not know
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ContainerDefinition.html (ModelPackageName)
 */
export function modelPackageProblem(arn: string, region: string | undefined): Problem {
  const found = ARN.exec(arn)?.groups?.region;
  if (found === undefined) {
    return {
      problem: `'${arn}' is no version of a model package group`,
      fix: 'Write arn:aws:sagemaker:REGION:ACCOUNT:model-package/GROUP/VERSION, as register prints it',
    };
  }
  if (region === undefined || found === region) return undefined;
  return {
    problem: `the version is in ${found} and the model in ${region}`,
    fix: `Register it in ${region} too`,
  };
}

/** Refuses an ARN that this scope's stack cannot use, where both are known. */
export function checkModelPackage(scope: Construct, arn: string): void {
  if (Token.isUnresolved(arn)) return;
  const { region } = Stack.of(scope);
  const known = Token.isUnresolved(region) ? undefined : region;
  refuseProblem(scope, 'modelData', modelPackageProblem(arn, known));
}

/** Text that changes with the version, as far as synthesis can see it. */
export function packageRevision(scope: Construct, arn: string): string {
  const text = Token.isUnresolved(arn) ? scope.node.path : arn;
  return createHash('sha256').update(`model-package ${text}`).digest('hex');
}
