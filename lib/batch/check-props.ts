/** Refuses what a transform job cannot be. */

import { SETTING_RULES } from '@sagemaker-tfs/batch/settings';
import { Token } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { BatchTransformProps } from '../batch-transform.ts';
import { hasLocalStorage } from '../endpoint/variant.ts';
import { checkInteger, invalidProp } from '../validation.ts';

const MAX_ENVIRONMENT = 16;

/** Props that are numbers with the bounds of the settings. */
const INTEGERS = [
  'instanceCount',
  'maxConcurrentTransforms',
  'maxPayloadInMB',
  'invocationsMaxRetries',
] as const;

/** @throws naming the prop */
export function checkBatch(scope: Construct, props: BatchTransformProps): void {
  for (const name of INTEGERS) checkSetting(scope, name, name, props[name]);
  const { sharding, model } = props;
  const timeout = props.invocationsTimeout?.toSeconds();
  checkSetting(scope, 'invocationsTimeout', 'invocationsTimeoutInSeconds', timeout);
  if (sharding) {
    const { objectsPerShard, maxConcurrentJobs } = sharding;
    checkInteger(scope, 'sharding.objectsPerShard', objectsPerShard, 1, 1_000_000);
    checkSetting(scope, 'sharding.maxConcurrentJobs', 'maxConcurrentJobs', maxConcurrentJobs);
  }
  for (const place of ['input', 'output', 'inventory'] as const) {
    const { prefix } = props[place] ?? { prefix: '/' };
    if (Token.isUnresolved(prefix) || prefix.endsWith('/')) continue;
    invalidProp(scope, `${place}.prefix`, `'${prefix}' does not end in '/'`, `Write '${prefix}/'`);
  }
  if (model.data.multiModel) {
    const problem = 'batch transform does not take multi-model data';
    invalidProp(scope, 'model', problem, 'Give a model of one archive');
  }
  if (model.data.compression === 'none') {
    const problem = 'batch transform takes only archives';
    invalidProp(scope, 'model', problem, `Give the model compression: 'gzip'`);
  }
  checkRecords(scope, props);
}

function checkSetting(
  scope: Construct,
  prop: string,
  setting: keyof typeof SETTING_RULES,
  value: number | undefined,
): void {
  const rule = SETTING_RULES[setting];
  if (rule.type === 'integer') checkInteger(scope, prop, value, rule.min, rule.max);
}

function checkRecords(scope: Construct, props: BatchTransformProps): void {
  if (props.batchStrategy === 'MultiRecord' && (props.splitType ?? 'None') === 'None') {
    invalidProp(
      scope,
      'batchStrategy',
      `'MultiRecord' joins records, and splitType 'None' makes none`,
      `Give a splitType, or batchStrategy 'SingleRecord'`,
    );
  }
  if (props.joinSource === 'Input' && !/json|csv/.test(props.contentType ?? '')) {
    invalidProp(
      scope,
      'joinSource',
      `SageMaker joins only JSON and CSV, and contentType is '${props.contentType ?? 'application/x-image'}'`,
      `Give joinSource 'None'`,
    );
  }
  const variables = Object.keys(props.environment ?? {}).length;
  if (variables > MAX_ENVIRONMENT) {
    const fix = `A job takes ${MAX_ENVIRONMENT}; give the rest to the model`;
    invalidProp(scope, 'environment', `${variables} variables`, fix);
  }
  const type = props.instanceType ?? '';
  if (props.volumeKey && hasLocalStorage(type)) {
    const problem = `${type} has disks of its own, and SageMaker refuses a key for them`;
    invalidProp(scope, 'volumeKey', problem, 'Leave it out');
  }
}
