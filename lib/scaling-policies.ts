/** Policies of Application Auto Scaling that variants and components share: following a load, and waking from none. */

import { type CfnScalableTarget, CfnScalingPolicy } from 'aws-cdk-lib/aws-applicationautoscaling';
import {
  Alarm,
  type AlarmProps,
  ComparisonOperator,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Annotations, Duration } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { MetricPeriods } from './rules/metric-periods.ts';

/** What target tracking follows. */
interface TargetTracking {
  /** Begins the policy's name. */
  readonly name: string;
  /** The load that one instance or copy should have. */
  readonly targetValue: number;
  readonly metric: Pick<
    CfnScalingPolicy.TargetTrackingScalingPolicyConfigurationProperty,
    'customizedMetricSpecification' | 'predefinedMetricSpecification'
  >;
  /** @default Duration.minutes(1) */
  readonly scaleOutCooldown?: Duration | undefined;
  /** @default Duration.minutes(5) */
  readonly scaleInCooldown?: Duration | undefined;
}

/** Adds a policy that keeps the load of one at its target. */
export function addTargetTracking(
  scope: Construct,
  scalable: CfnScalableTarget,
  { name, targetValue, metric, scaleOutCooldown, scaleInCooldown }: TargetTracking,
): void {
  new CfnScalingPolicy(scope, 'TargetTracking', {
    policyName: `${name}-target`,
    policyType: 'TargetTrackingScaling',
    scalingTargetId: scalable.ref,
    targetTrackingScalingPolicyConfiguration: {
      targetValue,
      ...metric,
      scaleOutCooldown: (scaleOutCooldown ?? Duration.minutes(1)).toSeconds(),
      scaleInCooldown: (scaleInCooldown ?? Duration.minutes(5)).toSeconds(),
    },
  });
}

/**
 * Warns that scaling looks at requests each minute, and they are published more rarely.
 * @see https://docs.aws.amazon.com/autoscaling/application/userguide/target-tracking-scaling-policy-overview.html (Choose metrics)
 */
export function warnOfRareRequests(scope: Construct, { requests }: MetricPeriods): void {
  if (requests <= SCALING_PERIOD) return;
  Annotations.of(scope).addWarningV2(
    '@sagemaker-tfs/cdk:scalingOnRareMetrics',
    `metricsConfig.frequencySeconds: with enhanced metrics requests are published every ${requests} seconds, and Application Auto Scaling looks at each minute, so scaling is late or does not happen. Publish every ${SCALING_PERIOD} seconds or more often, or leave enhanced out`,
  );
}

/** Seconds of a period of Application Auto Scaling's alarms. */
const SCALING_PERIOD = 60;

/** What wakes a scalable target that is at 0. */
interface WakeUp {
  /** Begins the policy's name. */
  readonly name: string;
  readonly aggregation: 'Average' | 'Maximum';
  readonly cooldown: Duration;
  /** The alarm on the requests that find nobody. */
  readonly alarm: Pick<AlarmProps, 'alarmDescription' | 'metric' | 'evaluationPeriods'> & {
    readonly id: string;
  };
}

/** Adds a policy from 0 to 1 and the alarm that starts it: the load of one is undefined while there is none. */
export function addWakeUp(
  scope: Construct,
  scalable: CfnScalableTarget,
  { name, aggregation, cooldown, alarm: { id, ...alarmProps } }: WakeUp,
): void {
  const policy = new CfnScalingPolicy(scope, 'WakeUp', {
    policyName: `${name}-wake-up`,
    policyType: 'StepScaling',
    scalingTargetId: scalable.ref,
    stepScalingPolicyConfiguration: {
      adjustmentType: 'ChangeInCapacity',
      metricAggregationType: aggregation,
      cooldown: cooldown.toSeconds(),
      stepAdjustments: [{ metricIntervalLowerBound: 0, scalingAdjustment: 1 }],
    },
  });
  const alarm = new Alarm(scope, id, {
    ...alarmProps,
    threshold: 1,
    comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    treatMissingData: TreatMissingData.MISSING,
  });
  alarm.addAlarmAction({ bind: () => ({ alarmActionArn: policy.ref }) });
}
