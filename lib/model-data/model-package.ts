/** Model data and image of a version in SageMaker's Model Registry. */
import type { IKey } from 'aws-cdk-lib/aws-kms';
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
   * Key that the archive is under, of any account: the model's role may decrypt with it. The key's own policy must let this
   * account, too.
   * @default - the key of `bucket`, if it is known
   */
  readonly encryptionKey?: IKey;
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
