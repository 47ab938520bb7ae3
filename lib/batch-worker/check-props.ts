/** Refuses what a batch worker cannot be. */
import { MAX_RANGES } from '@sagemaker-tfs/batch';
import { Token } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { checkNotices, checkPlaces, checkSchedule, checkSetting } from '../batch/check-props.ts';
import { checkInteger, checkRange, invalidProp } from '../validation.ts';
import { DEFAULT_WORKERS, rangesOf } from './command.ts';
import type { BatchWorkerProps } from './props.ts';

/** `m6i.xlarge`; SageMaker's names begin with `ml.`. */
const EC2_TYPE = /^[a-z][a-z0-9-]*\.[a-z0-9-]+$/;

/** @see https://docs.aws.amazon.com/batch/latest/APIReference/API_JobStateTimeLimitAction.html */
const WAIT_SECONDS = [600, 86_400] as const;

/** @throws naming the prop */
export function checkWorker(scope: Construct, props: BatchWorkerProps): void {
  const { model, workers = DEFAULT_WORKERS } = props;
  checkInteger(scope, 'workers', workers, 1, 10_000);
  checkInteger(scope, 'vcpus', props.vcpus, 1, 256);
  checkInteger(scope, 'attempts', props.attempts, 1, 10);
  checkInteger(scope, 'ranges', props.ranges, 1, MAX_RANGES);
  checkSetting(scope, 'maxFailurePercent', 'maxFailurePercent', props.maxFailurePercent);
  const wait = props.provisioningTimeout?.toSeconds();
  checkRange(scope, 'provisioningTimeout', wait, ...WAIT_SECONDS, 'seconds');
  const { budgetHours } = props;
  if (budgetHours !== undefined && !Token.isUnresolved(budgetHours) && !(budgetHours > 0)) {
    invalidProp(scope, 'budgetHours', `${budgetHours} hours are no budget`, 'Give more than 0');
  }
  if (rangesOf(props) < workers) {
    const problem = `${props.ranges} ranges leave some of ${workers} workers without work`;
    invalidProp(scope, 'ranges', problem, `Give ${workers} or more`);
  }
  const { input, output } = props;
  checkPlaces(scope, { input, output });
  checkTypes(scope, props.instanceTypes);
  if (model.data.multiModel || model.data.compression === 'none') {
    const problem = 'a worker reads one archive';
    invalidProp(scope, 'model', problem, `Give a model of one archive, with compression: 'gzip'`);
  }
  checkNotices(scope, props);
  checkSchedule(scope, props.schedule);
}

function checkTypes(scope: Construct, types: readonly string[] | undefined): void {
  if (types?.length === 0) {
    invalidProp(scope, 'instanceTypes', 'the list is empty', 'Name a type, or leave it out');
  }
  for (const [i, type] of (types ?? []).entries()) {
    if (Token.isUnresolved(type)) continue;
    const prop = `instanceTypes[${i}]`;
    if (type.startsWith('ml.')) {
      const problem = `'${type}' is a name of SageMaker's, and AWS Batch starts instances of EC2`;
      invalidProp(scope, prop, problem, `Write '${type.slice('ml.'.length)}'`);
    }
    if (!EC2_TYPE.test(type)) {
      invalidProp(
        scope,
        prop,
        `'${type}' is not an instance type`,
        `Write one such as 'g5.xlarge'`,
      );
    }
  }
}
