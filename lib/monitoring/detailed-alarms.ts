/**
 * Alarms over what SageMaker scrapes from the runtime's `/metrics`, which CloudWatch keeps for PromQL.
 * @see https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch-detailed-observability.html
 */
import { PromQLAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import { Duration } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';

/** Labels of SageMaker's collector: https://docs.aws.amazon.com/sagemaker/latest/dg/inference-monitoring.html */
const ENDPOINT = 'aws.sagemaker.endpoint.name';
const VARIANT = 'aws.sagemaker.variant.name';
const INSTANCE = '@resource.host.id';

/** Adds the alarms of one variant to `scope`. */
export function detailedAlarms(
  scope: Construct,
  endpointName: string,
  variant: string,
): PromQLAlarm[] {
  const series = (metric: string) =>
    `{"${metric}", "${ENDPOINT}"="${endpointName}", "${VARIANT}"="${variant}"}`;
  const specs = [
    {
      id: 'NotReady',
      description: 'has an instance whose models cannot be called',
      query: `min by ("${INSTANCE}") (${series('sagemaker_tfs_ready')}) < 1`,
      pending: Duration.minutes(5),
    },
    {
      id: 'Restarts',
      description: 'has processes that crash and are started again',
      query: `sum by ("${INSTANCE}") (increase(${series('sagemaker_tfs_process_restarts_total')}[15m])) > 0`,
      pending: Duration.seconds(0),
    },
  ];
  const place = new Construct(scope, 'Detailed');
  return specs.map(
    ({ id, description, query, pending }) =>
      new PromQLAlarm(place, id, {
        alarmDescription: `Variant ${variant} ${description}`,
        query,
        evaluationInterval: Duration.minutes(1),
        pendingPeriod: pending,
        recoveryPeriod: Duration.minutes(5),
      }),
  );
}
