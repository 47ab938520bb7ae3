/** Model data and image of a version in SageMaker's Model Registry. */
import { createHash } from 'node:crypto';
import { Stack, Token } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { AnyBucket } from '../cdk-types.ts';
import { modelPackageProblem } from '../rules/model-package.ts';
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
