/** Deployments while workers run. */
import { CfnComputeEnvironment, type ManagedEc2EcsComputeEnvironment } from 'aws-cdk-lib/aws-batch';
import { Duration, Stack, Token } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';

/**
 * Longest that AWS Batch lets running jobs continue when the instances of an environment are changed, in minutes. Its page for the
 * regions of China has the shorter one.
 * @see https://docs.aws.amazon.com/batch/latest/APIReference/API_UpdatePolicy.html
 * @see https://docs.amazonaws.cn/batch/latest/APIReference/API_UpdatePolicy.html
 */
const LONGEST_UPDATE = 7200;
const LONGEST_IN_CHINA = 360;

/** As long as a worker may run, so that it may finish where it is: AWS Batch's own limit is half an hour. */
export function updateTimeoutOf(scope: Construct, timeout: Duration): Duration {
  const { region } = Stack.of(scope);
  const inChina = !Token.isUnresolved(region) && region.startsWith('cn-');
  const longest = inChina ? LONGEST_IN_CHINA : LONGEST_UPDATE;
  if (timeout.isUnresolved()) return Duration.minutes(longest);
  return Duration.minutes(Math.min(longest, Math.ceil(timeout.toSeconds() / 60)));
}

/**
 * Tags of an environment cannot be changed: CloudFormation would make another one and delete this one under its workers. The tags
 * of the instances can, and these are what is paid for.
 * @see https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/2270
 */
export function tagInstancesAlone({ node }: ManagedEc2EcsComputeEnvironment): void {
  if (node.defaultChild instanceof CfnComputeEnvironment) {
    node.defaultChild.addPropertyDeletionOverride('Tags');
  }
}
