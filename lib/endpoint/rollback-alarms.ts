/** Alarms that roll an update back, and leave to read them. */
import {
  Alarm,
  ComparisonOperator,
  type IAlarm,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { type CfnPolicy, type IRole, Policy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Annotations, ArnFormat, Duration, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { type MetricPeriods, periodsOf, SLOW_SECONDS } from '../rules/metric-periods.ts';
import { justifyWildcard } from '../wildcards.ts';
import { DEFAULT_SERVER_ERRORS, type DeploymentProps } from './deployment.ts';
import type { VariantMetrics } from './metrics.ts';

/**
 * Alarms of a fleet. Their names are the fleet's own: CloudWatch leaves the state of an alarm as it is when the alarm
 * is changed, so one that sounds for the old fleet would still sound when SageMaker looks at it for the new.
 * @param fleet names the fleet
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
 */
export function rollbackAlarms(
  scope: Construct,
  metrics: VariantMetrics,
  fleet: string,
  deployment: DeploymentProps,
  periods: MetricPeriods,
): Alarm[] {
  const period = Duration.seconds(periods.requests);
  const alarms = [
    new Alarm(scope, 'ServerErrors', {
      alarmName: `${fleet}-server-errors`,
      alarmDescription: 'The fleet answers with 5xx: an update is rolled back',
      metric: metrics.metricServerErrors({ period }),
      threshold: deployment.serverErrorsPerMinute ?? DEFAULT_SERVER_ERRORS,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    }),
  ];
  if (deployment.modelLatencyP90) {
    alarms.push(
      new Alarm(scope, 'ModelLatency', {
        alarmName: `${fleet}-model-latency`,
        alarmDescription: 'The fleet is slow: an update is rolled back',
        metric: metrics.metricModelLatency({ period }),
        threshold: deployment.modelLatencyP90.toMilliseconds() * 1000,
        evaluationPeriods: periodsOf(SLOW_SECONDS, periods.requests),
        treatMissingData: TreatMissingData.NOT_BREACHING,
      }),
    );
  }
  return alarms;
}

/**
 * Lets the models' roles read the alarms that roll an update back, which SageMaker asks of them.
 * @see https://docs.aws.amazon.com/sagemaker/latest/dg/deployment-guardrails-configuration.html
 */
export function allowRollback(
  scope: Construct,
  alarms: readonly IAlarm[],
  roles: ReadonlySet<IRole>,
): Policy[] {
  if (alarms.length === 0 || roles.size === 0) return [];
  // Not in the roles' own policies: those come before the models, and so before the alarms.
  const policy = new Policy(scope, 'ReadRollbackAlarms', {
    statements: [
      new PolicyStatement({
        actions: ['cloudwatch:DescribeAlarms'],
        resources: alarmArns(scope, alarms),
      }),
    ],
  });
  for (const role of roles) {
    if (attachTo(role, policy)) continue;
    Annotations.of(scope).addWarningV2(
      '@sagemaker-tfs/cdk:rollbackAlarmsOfRole',
      `variants: the role ${role.roleName} takes no policies from this app. SageMaker reads the alarms that roll an update back as this role: let it do cloudwatch:DescribeAlarms on every alarm of this account and region, their names change with each configuration`,
    );
  }
  if (!alarms.every(isMetricAlarm)) {
    justifyWildcard(policy, '*', 'CloudWatch shows composite alarms only to who may see all');
  }
  return [policy];
}

/** By name, as the deployment names them: in the endpoint's own account and region. */
function alarmArns(scope: Construct, alarms: readonly IAlarm[]): string[] {
  if (!alarms.every(isMetricAlarm)) return ['*'];
  return alarms.map(({ alarmName }) =>
    Stack.of(scope).formatArn({
      service: 'cloudwatch',
      resource: 'alarm',
      resourceName: alarmName,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    }),
  );
}

/**
 * Attaches a policy the role's own way: one imported with `mutable: false` takes none.
 * @returns whether the role took it
 */
function attachTo(role: IRole, policy: Policy): boolean {
  const { stack, node } = policy;
  const count = () => [stack.resolve((node.defaultChild as CfnPolicy).roles) ?? []].flat().length;
  const before = count();
  role.attachInlinePolicy(policy);
  return count() > before;
}

/**
 * Whether `cloudwatch:DescribeAlarms` on this one alarm shows it. Composite alarms are shown only to who may see
 * all, and an imported alarm may be one.
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html
 */
function isMetricAlarm(alarm: IAlarm): boolean {
  return alarm instanceof Alarm;
}
