/**
 * The number of a component's copies, following its load, down to none.
 * @see https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling-zero-instances.html
 */
import { CfnScalableTarget, CfnScalingPolicy } from 'aws-cdk-lib/aws-applicationautoscaling';
import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { Duration } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { ComponentMetrics } from './metrics.ts';
import type { ComponentScalingProps } from './props.ts';

/** Adds a scalable target and its policies. @param componentName SageMaker's name */
export function addComponentScaling(
  scope: Construct,
  componentName: string,
  props: ComponentScalingProps,
): void {
  const { minCopies = 1, maxCopies, target } = props;
  const scalable = new CfnScalableTarget(scope, 'ScalableTarget', {
    serviceNamespace: 'sagemaker',
    scalableDimension: 'sagemaker:inference-component:DesiredCopyCount',
    resourceId: `inference-component/${componentName}`,
    minCapacity: minCopies,
    maxCapacity: maxCopies,
  });
  new CfnScalingPolicy(scope, 'TargetTracking', {
    policyName: `${componentName}-target`,
    policyType: 'TargetTrackingScaling',
    scalingTargetId: scalable.ref,
    targetTrackingScalingPolicyConfiguration: {
      targetValue: Object.values(target)[0] ?? 0,
      predefinedMetricSpecification: {
        predefinedMetricType:
          'concurrentRequests' in target
            ? 'SageMakerInferenceComponentConcurrentRequestsPerCopyHighResolution'
            : 'SageMakerInferenceComponentInvocationsPerCopy',
      },
      scaleOutCooldown: (props.scaleOutCooldown ?? Duration.minutes(1)).toSeconds(),
      scaleInCooldown: (props.scaleInCooldown ?? Duration.minutes(5)).toSeconds(),
    },
  });
  if (minCopies === 0) addWakeUp(scope, componentName, scalable);
}

/** From no copy to one: requests for each copy are undefined if there is none. */
function addWakeUp(scope: Construct, componentName: string, scalable: CfnScalableTarget): void {
  const policy = new CfnScalingPolicy(scope, 'WakeUp', {
    policyName: `${componentName}-wake-up`,
    policyType: 'StepScaling',
    scalingTargetId: scalable.ref,
    stepScalingPolicyConfiguration: {
      adjustmentType: 'ChangeInCapacity',
      metricAggregationType: 'Maximum',
      cooldown: Duration.minutes(1).toSeconds(),
      stepAdjustments: [{ metricIntervalLowerBound: 0, scalingAdjustment: 1 }],
    },
  });
  const alarm = new Alarm(scope, 'NoCapacity', {
    alarmDescription: 'Requests come and there is no copy: one is added',
    metric: new ComponentMetrics(componentName).metricNoCapacityFailures(),
    threshold: 1,
    comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    evaluationPeriods: 1,
    treatMissingData: TreatMissingData.MISSING,
  });
  alarm.addAlarmAction({ bind: () => ({ alarmActionArn: policy.ref }) });
}
