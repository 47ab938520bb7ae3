/**
 * Rolling updates of a component.
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_InferenceComponentRollingUpdatePolicy.html
 */
import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { CfnInferenceComponent } from 'aws-cdk-lib/aws-sagemaker';
import { Duration } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { DEFAULT_SERVER_ERRORS } from '../endpoint/deployment.ts';
import type { MetricsConfigProps } from '../endpoint/metrics-config.ts';
import { STEP_WAIT_SECONDS, TRAFFIC_SHARES } from '../rules/bounds.ts';
import { type MetricPeriods, metricPeriods, unwatchedProblem } from '../rules/metric-periods.ts';
import { checkInteger, checkRange, refuseProblem, type Where } from '../validation.ts';
import { ComponentMetrics } from './metrics.ts';
import type { ComponentUpdateProps } from './props.ts';

/** Refuses what SageMaker would. */
export function checkUpdate(
  where: Where,
  { percent, wait, ...rest }: ComponentUpdateProps,
  metricsConfig: MetricsConfigProps | undefined,
): void {
  checkInteger(where, 'update.percent', percent, ...TRAFFIC_SHARES.rolling, 'percent');
  checkRange(where, 'update.wait', wait.toSeconds(), ...STEP_WAIT_SECONDS, 'seconds');
  const most = Number.MAX_SAFE_INTEGER;
  checkInteger(where, 'update.serverErrorsPerMinute', rest.serverErrorsPerMinute, 1, most);
  const shift = { type: 'rolling', percent, waitSeconds: wait.toSeconds() } as const;
  const unwatched = unwatchedProblem(shift, 0, metricPeriods(metricsConfig), false);
  refuseProblem(where, 'metricsConfig.frequencySeconds', unwatched);
}

/**
 * The alarm that undoes an update of a component. It counts old copies too: their metrics have no dimension of their own.
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-sagemaker-inferencecomponent-autorollbackconfiguration.html
 * @param componentName SageMaker's name
 */
export function rollbackAlarm(
  scope: Construct,
  componentName: string,
  { serverErrorsPerMinute }: ComponentUpdateProps,
  { requests }: MetricPeriods,
): Alarm {
  return new Alarm(scope, 'Rollback', {
    alarmName: `${componentName}-rollback`,
    alarmDescription: 'The component answers with 5xx: an update is rolled back',
    metric: new ComponentMetrics(componentName).metricServerErrors({
      period: Duration.seconds(requests),
    }),
    threshold: serverErrorsPerMinute ?? DEFAULT_SERVER_ERRORS,
    comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    evaluationPeriods: 1,
    treatMissingData: TreatMissingData.NOT_BREACHING,
  });
}

/** SageMaker's form of the props. */
export function renderUpdate(
  { percent, wait }: ComponentUpdateProps,
  alarm: Alarm,
): CfnInferenceComponent.InferenceComponentDeploymentConfigProperty {
  return {
    rollingUpdatePolicy: {
      maximumBatchSize: { type: 'CAPACITY_PERCENT', value: percent },
      waitIntervalInSeconds: wait.toSeconds(),
    },
    autoRollbackConfiguration: { alarms: [{ alarmName: alarm.alarmName }] },
  };
}
