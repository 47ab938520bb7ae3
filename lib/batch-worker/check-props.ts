/** Refuses what a batch worker cannot be. */
import { MAX_RANGES } from '@sagemaker-tfs/batch';
import { SizeRoundingBehavior, Token } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { checkNotices, checkPlaces, checkSchedule, checkSetting } from '../batch/check-props.ts';
import { checkGpu, checkPlatform, warnOfIdleGpu } from '../image-platform.ts';
import { mayHold, sizeOf } from '../instance-types/index.ts';
import {
  LEAST_WORKER,
  WORKER_ATTEMPTS,
  WORKER_VCPU_COUNTS,
  WORKER_WAIT_SECONDS,
  WORKERS_OF_A_RUN,
} from '../rules/bounds.ts';
import { checkInteger, checkRange, invalidProp } from '../validation.ts';
import { DEFAULT_WORKERS, rangesOf } from './command.ts';
import { checkTypeThere } from './ec2-regions.ts';
import { ec2Family, typesOf, WORKER_MEMORY, WORKER_VCPUS } from './instance-types.ts';
import { checkLaunch } from './launch-template.ts';
import type { BatchWorkerProps } from './props.ts';

/** `m6i.xlarge`; SageMaker's names begin with `ml.`. */
const EC2_TYPE = /^[a-z][a-z0-9-]*\.[a-z0-9-]+$/;

/** @throws naming the prop */
export function checkWorker(scope: Construct, props: BatchWorkerProps): void {
  const { model, workers = DEFAULT_WORKERS } = props;
  checkInteger(scope, 'workers', workers, ...WORKERS_OF_A_RUN);
  checkInteger(scope, 'vcpus', props.vcpus, ...WORKER_VCPU_COUNTS);
  checkInteger(scope, 'attempts', props.attempts, ...WORKER_ATTEMPTS);
  checkInteger(scope, 'ranges', props.ranges, 1, MAX_RANGES);
  checkSetting(scope, 'maxFailurePercent', 'maxFailurePercent', props.maxFailurePercent);
  const wait = props.provisioningTimeout?.toSeconds();
  checkRange(scope, 'provisioningTimeout', wait, ...WORKER_WAIT_SECONDS, 'seconds');
  const { budgetHours, timeout } = props;
  if (timeout && !timeout.isUnresolved() && timeout.toSeconds() < LEAST_WORKER.timeoutSeconds) {
    const problem = `${timeout.toSeconds()} seconds are less than AWS Batch takes`;
    invalidProp(scope, 'timeout', problem, `Give ${LEAST_WORKER.timeoutSeconds} or more`);
  }
  if (budgetHours !== undefined && !Token.isUnresolved(budgetHours) && !(budgetHours > 0)) {
    invalidProp(scope, 'budgetHours', `${budgetHours} hours are no budget`, 'Give more than 0');
  }
  if (rangesOf(props) < workers) {
    const problem = `${props.ranges} ranges leave some of ${workers} workers without work`;
    invalidProp(scope, 'ranges', problem, `Give ${workers} or more`);
  }
  const { input, output } = props;
  checkPlaces(scope, { input, output });
  checkNames(scope, props.instanceTypes);
  checkTypes(scope, props);
  checkLaunch(scope, props);
  if (model.data.container.modelDataUrl === undefined || model.data.multiModel) {
    const problem = 'a worker reads one archive';
    invalidProp(
      scope,
      'model',
      problem,
      `Give a model of one archive, with compression: 'gzip' and not of a model package`,
    );
  }
  checkNotices(scope, props);
  checkSchedule(scope, props.schedule);
}

function checkNames(scope: Construct, types: readonly string[] | undefined): void {
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

/**
 * Refuses types that cannot run the image or hold a worker. AWS Batch would start them, and every worker fail; or it would wait, and
 * cancel them.
 * @see https://docs.aws.amazon.com/batch/latest/APIReference/API_ComputeResource.html (one architecture)
 */
function checkTypes(scope: Construct, props: BatchWorkerProps): void {
  const { image } = props.model;
  const types = typesOf(scope, props);
  for (const [i, type] of types.entries()) {
    if (Token.isUnresolved(type)) continue;
    const prop = `instanceTypes[${i}]`;
    const family = ec2Family(type);
    checkTypeThere(scope, prop, type);
    checkPlatform(scope, prop, type, family, image.platform);
    if (!family.gpu) continue;
    if (image.platform.accelerator === 'gpu') {
      checkGpu(scope, prop, type, family.gpu, image.platform);
    } else {
      warnOfIdleGpu(scope, prop, type, image.variant);
    }
  }
  checkSize(scope, props, types);
}

/** Refuses a worker that is too large for every type. */
function checkSize(scope: Construct, props: BatchWorkerProps, types: readonly string[]): void {
  const { vcpus = WORKER_VCPUS, memory = WORKER_MEMORY } = props;
  if (Token.isUnresolved(vcpus) || memory.isUnresolved()) return;
  const memoryGiB = memory.toGibibytes({ rounding: SizeRoundingBehavior.NONE });
  const holds = (type: string, least: number) =>
    Token.isUnresolved(type) || mayHold(type, vcpus, least);
  if (types.some((type) => holds(type, memoryGiB))) return;
  const prop = types.some((type) => holds(type, 0)) ? 'memory' : 'vcpus';
  const worker = `a worker of ${vcpus} vCPUs and ${memoryGiB} GiB fits on no instance type`;
  const fix = 'Give less (of its memory an instance needs some itself), or name a larger type';
  invalidProp(scope, prop, `${worker}: ${types.map(sizeOf).join(', ')}`, fix);
}
