/**
 * The number of a component's copies, following its load, down to none.
 * @see https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling-zero-instances.html
 */
import { CfnScalableTarget } from 'aws-cdk-lib/aws-applicationautoscaling';
import { Duration } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { addTargetTracking, addWakeUp } from '../scaling-policies.ts';
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
  addTargetTracking(scope, scalable, {
    name: componentName,
    targetValue: Object.values(target)[0] ?? 0,
    metric: {
      predefinedMetricSpecification: {
        predefinedMetricType:
          'concurrentRequests' in target
            ? 'SageMakerInferenceComponentConcurrentRequestsPerCopyHighResolution'
            : 'SageMakerInferenceComponentInvocationsPerCopy',
      },
    },
    scaleOutCooldown: props.scaleOutCooldown,
    scaleInCooldown: props.scaleInCooldown,
  });
  if (minCopies > 0) return;
  addWakeUp(scope, scalable, {
    name: componentName,
    aggregation: 'Maximum',
    // The usual time of an instance: requests that are sent again meanwhile must not add a copy every minute.
    cooldown: Duration.minutes(5),
    alarm: {
      id: 'NoCapacity',
      alarmDescription: 'Requests come and there is no copy: one is added',
      metric: new ComponentMetrics(componentName).metricNoCapacityFailures(),
      evaluationPeriods: 1,
    },
  });
}
