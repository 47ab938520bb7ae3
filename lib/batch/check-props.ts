/** Refuses what a transform job cannot be. */

import { NOTICE_PERCENTS } from '@sagemaker-tfs/batch';
import { hasLocalStorage } from '@sagemaker-tfs/batch/instance-types';
import {
  CONFLICT_RULES,
  DEFAULT_SETTINGS,
  defaultAssembly,
  SETTING_RULES,
} from '@sagemaker-tfs/batch/settings';
import type { Schedule } from 'aws-cdk-lib/aws-events';
import { CfnBucket } from 'aws-cdk-lib/aws-s3';
import { Annotations, Stack, Token } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { AnyBucket } from '../cdk-types.ts';
import { definedOnly } from '../defined-only.ts';
import {
  environmentProblem,
  inFlightProblem,
  scheduleProblem,
  TRANSFORM_ENVIRONMENT,
  tagsProblem,
} from '../rules/limits.ts';
import { archiveProblem } from '../rules/serverless.ts';
import { checkInteger, invalidProp, refuseProblem } from '../validation.ts';
import type { BatchTransformProps, S3Place } from './props.ts';

/** Props that are numbers with the bounds of the settings. */
const INTEGERS = [
  'instanceCount',
  'maxConcurrentTransforms',
  'maxPayloadInMB',
  'invocationsMaxRetries',
  'maxFailurePercent',
  'budgetInstanceHours',
] as const;

/** @throws naming the prop */
export function checkBatch(scope: Construct, props: BatchTransformProps): void {
  for (const name of INTEGERS) checkSetting(scope, name, name, props[name]);
  const { sharding, model } = props;
  const timeout = props.invocationsTimeout?.toSeconds();
  checkSetting(scope, 'invocationsTimeout', 'invocationsTimeoutInSeconds', timeout);
  if (sharding) {
    const { objectsPerShard, maxConcurrentJobs, minutesPerShard } = sharding;
    checkInteger(
      scope,
      'sharding.objectsPerShard',
      objectsPerShard,
      1,
      SETTING_RULES.objectsPerShard.max,
    );
    checkSetting(scope, 'sharding.minutesPerShard', 'minutesPerShard', minutesPerShard);
    checkSetting(scope, 'sharding.maxConcurrentJobs', 'maxConcurrentJobs', maxConcurrentJobs);
  }
  const { input, output, inventory } = props;
  checkPlaces(scope, { input, output, inventory });
  checkBucketKeys(scope, { input, output });
  if (model.data.multiModel) {
    const problem = 'batch transform does not take multi-model data';
    invalidProp(scope, 'model', problem, 'Give a model of one archive');
  }
  refuseProblem(scope, 'model', archiveProblem('batch transform', model.data.compression));
  checkNotices(scope, props);
  checkInFlight(scope, props);
  checkConflicts(scope, props);
  checkJob(scope, props);
  checkManifestEvents(scope, props);
}

/** Refuses prefixes of places, by their props, that do not end in `/`. */
export function checkPlaces(
  scope: Construct,
  places: Readonly<Record<string, S3Place | undefined>>,
): void {
  for (const [prop, place] of Object.entries(places)) {
    const { prefix } = place ?? { prefix: '/' };
    if (Token.isUnresolved(prefix) || prefix.endsWith('/')) continue;
    invalidProp(scope, `${prop}.prefix`, `'${prefix}' does not end in '/'`, `Write '${prefix}/'`);
  }
}

/** Refuses a schedule that EventBridge would refuse. */
export function checkSchedule(scope: Construct, schedule: Schedule | undefined): void {
  if (schedule && !Token.isUnresolved(schedule.expressionString)) {
    refuseProblem(scope, 'schedule', scheduleProblem(schedule.expressionString));
  }
}

/** Refuses percentages that are none, and messages that nobody would hear. */
export function checkNotices(
  scope: Construct,
  { noticesAt = [], topic }: Pick<BatchTransformProps, 'noticesAt' | 'topic'>,
): void {
  for (const [i, percent] of noticesAt.entries()) {
    checkInteger(scope, `noticesAt[${i}]`, percent, NOTICE_PERCENTS.from, NOTICE_PERCENTS.to);
  }
  if (noticesAt.length > 0 && !topic) {
    invalidProp(scope, 'noticesAt', 'there is no topic to tell', 'Give a topic');
  }
}

function checkInFlight(scope: Construct, props: BatchTransformProps): void {
  const { maxConcurrentTransforms, maxPayloadInMB } = {
    ...DEFAULT_SETTINGS,
    ...definedOnly(props),
  };
  if (Token.isUnresolved(maxConcurrentTransforms) || Token.isUnresolved(maxPayloadInMB)) return;
  refuseProblem(scope, 'maxPayloadInMB', inFlightProblem(maxConcurrentTransforms, maxPayloadInMB));
}

/** Whether one place lies in the other, as far as synthesis can see it. */
function liesBelow(scope: Construct, inner: S3Place, outer: S3Place): boolean {
  const stack = Stack.of(scope);
  const name = ({ bucket }: S3Place) => JSON.stringify(stack.resolve(bucket.bucketName));
  return name(inner) === name(outer) && inner.prefix.startsWith(outer.prefix);
}

/** A run writes manifests of its shards below its output prefix: as uploads they would start runs for ever. */
function checkManifestEvents(scope: Construct, props: BatchTransformProps): void {
  const { startOnManifest, input, output } = props;
  if (startOnManifest === undefined) return;
  if (liesBelow(scope, output, input)) {
    invalidProp(
      scope,
      'startOnManifest',
      `the output prefix '${output.prefix}' lies below the input prefix '${input.prefix}', so the manifests that a run writes would start the next one, for ever`,
      'Give input and output prefixes that do not contain each other',
    );
  }
  if (sendsEvents(input.bucket)) return;
  Annotations.of(scope).addWarningV2(
    '@sagemaker-tfs/cdk:noBucketEvents',
    `startOnManifest: nothing here shows that the input bucket sends its events to EventBridge; without them no upload starts a run. Give the bucket eventBridgeEnabled: true, or call its enableEventBridgeNotification()`,
  );
}

/**
 * Warns of buckets of this app under a key without bucket keys: S3 then calls KMS for each object, to read and to write.
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucket-key.html
 */
function checkBucketKeys(scope: Construct, places: Readonly<Record<string, S3Place>>): void {
  for (const [prop, { bucket }] of Object.entries(places)) {
    if (!callsKmsForEach(bucket)) continue;
    Annotations.of(scope).addWarningV2(
      '@sagemaker-tfs/cdk:noBucketKey',
      `${prop}: S3 calls KMS for each object of this bucket, which for 120 million inputs with their outputs costs hundreds of dollars and may be throttled. Give the bucket bucketKeyEnabled: true before its objects are written`,
    );
  }
}

function callsKmsForEach(bucket: AnyBucket): boolean {
  const { defaultChild } = bucket.node;
  if (!(defaultChild instanceof CfnBucket)) return false;
  const { bucketEncryption } = Stack.of(bucket).resolve({
    bucketEncryption: defaultChild.bucketEncryption,
  }) as { bucketEncryption?: CfnBucket.BucketEncryptionProperty };
  const rules = bucketEncryption?.serverSideEncryptionConfiguration;
  if (!Array.isArray(rules)) return false;
  return (rules as CfnBucket.ServerSideEncryptionRuleProperty[]).some(
    ({ bucketKeyEnabled, serverSideEncryptionByDefault: byDefault }) =>
      bucketKeyEnabled !== true &&
      (byDefault as CfnBucket.ServerSideEncryptionByDefaultProperty | undefined)?.sseAlgorithm ===
        'aws:kms',
  );
}

/** Whether a bucket of this app sends events. The CDK keeps it in a child of the bucket. */
function sendsEvents(bucket: AnyBucket): boolean {
  return bucket.node
    .findAll()
    .some((child) => 'eventBridgeEnabled' in child && child.eventBridgeEnabled === true);
}

/** Refuses a number outside the bounds of the setting that it is. */
export function checkSetting(
  scope: Construct,
  prop: string,
  setting: keyof typeof SETTING_RULES,
  value: number | undefined,
): void {
  const rule = SETTING_RULES[setting];
  if (rule.type === 'integer') checkInteger(scope, prop, value, rule.min, rule.max);
}

/** Refuses settings that do not go together. */
function checkConflicts(scope: Construct, props: BatchTransformProps): void {
  const settings = {
    ...DEFAULT_SETTINGS,
    contentType: '',
    assembleWith: defaultAssembly(props),
    ...definedOnly(props),
  };
  for (const { setting, refuses, problem, fix = '' } of CONFLICT_RULES) {
    if (refuses?.(settings)) invalidProp(scope, setting, problem, fix);
  }
}

function checkJob(scope: Construct, props: BatchTransformProps): void {
  const { environment = {}, jobTags = {}, schedule } = props;
  refuseProblem(scope, 'environment', environmentProblem(environment, TRANSFORM_ENVIRONMENT));
  refuseProblem(scope, 'jobTags', tagsProblem(jobTags));
  checkSchedule(scope, schedule);
  const type = props.instanceType ?? '';
  if (props.volumeKey && hasLocalStorage(type)) {
    const problem = `${type} has local disks, and SageMaker refuses a key for them`;
    invalidProp(scope, 'volumeKey', problem, 'Leave it out');
  }
}
