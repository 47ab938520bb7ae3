/** The number of a variant's instances, following its load. */

import { CfnScalableTarget } from 'aws-cdk-lib/aws-applicationautoscaling';
import { Annotations, Duration } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import {
  burstableProblem,
  fewestAtAnyTime,
  hasPassed,
  limitsOf,
  type ScheduledLimits,
  scheduledLimitsProblem,
  sleepProblem,
  targetProblem,
} from '../rules/scaling-schedule.ts';
import { addTargetTracking, addWakeUp } from '../scaling-policies.ts';
import { checkInteger, checkOneOf, checkRange, refuseProblem, type Where } from '../validation.ts';
import { QueueMetrics } from './metrics.ts';

/** The load that one instance should have; more adds instances, less removes them. */
export type ScalingTarget =
  /** Requests a minute. */
  | { readonly invocationsPerMinute: number }
  /** Requests in flight; reacts within 10 seconds. */
  | { readonly concurrentRequests: number }
  /** Requests waiting in the queue of an asynchronous endpoint. */
  | { readonly backlog: number };

/** Props of autoscaling. */
export interface ScalingProps {
  /**
   * Fewest instances. 0 only with asynchronous inference: the first request in the queue starts one.
   * @default 1
   */
  readonly minInstances?: number;
  /** Most instances. */
  readonly maxInstances: number;
  /** Load of one instance. */
  readonly target: ScalingTarget;
  /**
   * Other limits by the clock, such as fewer instances at night. An update that changes the scaling sets
   * `minInstances` and `maxInstances` until the next time of the schedule.
   * @default - the same limits at any time
   * @see https://docs.aws.amazon.com/autoscaling/application/userguide/application-auto-scaling-scheduled-scaling.html
   */
  readonly schedule?: readonly ScheduledLimits[];
  /**
   * Pause after instances were added.
   * @default Duration.minutes(1)
   */
  readonly scaleOutCooldown?: Duration;
  /**
   * Pause after instances were removed.
   * @default Duration.minutes(5)
   */
  readonly scaleInCooldown?: Duration;
  /**
   * Whether Application Auto Scaling watches the variant. While it does, SageMaker accepts no other instance type
   * for it, and not its removal: deploy once with `false`, which keeps the number of instances as it is, then with
   * the new type and without `false`, or without the variant. With `false` nothing starts an instance where 0 run.
   * @default true
   * @see https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-scaling-update.html
   */
  readonly registered?: boolean;
}

const TARGETS = ['invocationsPerMinute', 'concurrentRequests', 'backlog'];
const DIMENSION = 'sagemaker:variant:DesiredInstanceCount';

/**
 * Refuses what Application Auto Scaling or SageMaker would.
 * @param instanceTypes burstable ones do not scale
 * @see https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling.html
 */
export function checkScaling(
  where: Where,
  prop: string,
  props: ScalingProps,
  async: boolean,
  instanceTypes: readonly string[],
): void {
  refuseProblem(where, prop, burstableProblem(instanceTypes));
  const { minInstances = 1, maxInstances, target } = props;
  checkInteger(where, `${prop}.maxInstances`, maxInstances, 1, Number.MAX_SAFE_INTEGER);
  checkInteger(where, `${prop}.minInstances`, minInstances, 0, maxInstances);
  checkOneOf(where, `${prop}.target`, target, TARGETS);
  checkRange(where, `${prop}.target`, Object.values(target)[0], 1e-3, Number.MAX_SAFE_INTEGER);
  refuseProblem(where, `${prop}.minInstances`, sleepProblem(minInstances, async));
  for (const [i, entry] of (props.schedule ?? []).entries()) {
    const at = `${prop}.schedule[${i}]`;
    checkInteger(where, `${at}.maxInstances`, entry.maxInstances, 1, Number.MAX_SAFE_INTEGER);
    checkInteger(where, `${at}.minInstances`, entry.minInstances, 0, Number.MAX_SAFE_INTEGER);
    const [field, problem] = scheduledLimitsProblem(entry, props, async) ?? [];
    refuseProblem(where, `${at}.${field}`, problem);
  }
  refuseProblem(where, `${prop}.target`, targetProblem(target, async));
}

/** Warns of times that never come. */
function warnOfPast(scope: Construct, schedule: readonly ScheduledLimits[]): void {
  for (const [i, entry] of schedule.entries()) {
    if (!hasPassed(entry)) continue;
    Annotations.of(scope).addWarningV2(
      '@sagemaker-tfs/cdk:scheduleHasPassed',
      `scaling.schedule[${i}].when: ${entry.when} has passed, and never comes again. Leave the entry out, or write another time`,
    );
  }
}

/** Adds a scalable target and its policies for one variant. */
export function addScaling(
  scope: Construct,
  endpointName: string,
  variantName: string,
  props: ScalingProps,
): void {
  const { minInstances = 1, maxInstances, target } = props;
  warnOfPast(scope, props.schedule ?? []);
  const scalable = new CfnScalableTarget(scope, 'ScalableTarget', {
    serviceNamespace: 'sagemaker',
    scalableDimension: DIMENSION,
    resourceId: `endpoint/${endpointName}/variant/${variantName}`,
    minCapacity: minInstances,
    maxCapacity: maxInstances,
    ...(props.schedule && { scheduledActions: props.schedule.map(scheduledAction(props)) }),
  });
  const name = `${endpointName}-${variantName}`;
  addTargetTracking(scope, scalable, {
    name,
    targetValue: Object.values(target)[0] ?? 0,
    metric: metricFor(endpointName, target),
    scaleOutCooldown: props.scaleOutCooldown,
    scaleInCooldown: props.scaleInCooldown,
  });
  if (fewestAtAnyTime(props) > 0) return;
  addWakeUp(scope, scalable, {
    name,
    aggregation: 'Average',
    cooldown: Duration.minutes(5),
    alarm: {
      id: 'BacklogWithoutCapacity',
      alarmDescription: 'Requests wait in the queue and no instance runs',
      metric: new QueueMetrics(endpointName).metricHasBacklogWithoutCapacity(),
      evaluationPeriods: 2,
    },
  });
}

/** An entry of the schedule, named by its place. */
function scheduledAction(props: ScalingProps) {
  return (entry: ScheduledLimits, index: number): CfnScalableTarget.ScheduledActionProperty => {
    const { minInstances, maxInstances } = limitsOf(entry, props);
    return {
      scheduledActionName: `schedule-${index}`,
      schedule: entry.when,
      timezone: entry.timeZone ?? 'UTC',
      scalableTargetAction: { minCapacity: minInstances, maxCapacity: maxInstances },
    };
  };
}

function metricFor(endpointName: string, target: ScalingTarget) {
  if ('backlog' in target) {
    return {
      customizedMetricSpecification: {
        namespace: 'AWS/SageMaker',
        metricName: 'ApproximateBacklogSizePerInstance',
        statistic: 'Average',
        dimensions: [{ name: 'EndpointName', value: endpointName }],
      },
    };
  }
  const predefinedMetricType =
    'concurrentRequests' in target
      ? 'SageMakerVariantConcurrentRequestsPerModelHighResolution'
      : 'SageMakerVariantInvocationsPerInstance';
  return { predefinedMetricSpecification: { predefinedMetricType } };
}
