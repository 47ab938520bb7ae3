/** Which metrics SageMaker publishes for an endpoint, and how often. */
import type { CfnEndpointConfig } from 'aws-cdk-lib/aws-sagemaker';
import { invalidProp, type Where } from '../validation.ts';

/**
 * Props of the metrics.
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_MetricsConfig.html
 */
export interface MetricsConfigProps {
  /**
   * Publishes what SageMaker scrapes from the container's `/metrics`, and metrics of each GPU and each instance. With
   * `true`, `EndpointMonitoring` has alarms over them.
   * @default - SageMaker's: true for endpoint configurations made after 17 June 2026
   */
  readonly detailed?: boolean;
  /**
   * Publishes utilization and invocations for each instance and container.
   * @default - SageMaker's: false
   */
  readonly enhanced?: boolean;
  /**
   * Seconds between two publications: 10, 30, 60, 120, 180, 240 or 300. With `enhanced` also of requests and latencies; the
   * alarms here have no shorter periods.
   * @default 60
   */
  readonly frequencySeconds?: number;
}

/** What SageMaker takes as seconds between two publications. */
export const METRIC_FREQUENCIES = [10, 30, 60, 120, 180, 240, 300] as const;

/** SageMaker's form of the props. @throws where it takes no such frequency */
export function renderMetricsConfig(
  where: Where,
  { detailed, enhanced, frequencySeconds }: MetricsConfigProps,
): CfnEndpointConfig.MetricsConfigProperty {
  const known: readonly number[] = METRIC_FREQUENCIES;
  if (frequencySeconds !== undefined && !known.includes(frequencySeconds)) {
    invalidProp(
      where,
      'metricsConfig.frequencySeconds',
      `${frequencySeconds} is not one that SageMaker takes`,
      `Use one of ${known.join(', ')}`,
    );
  }
  return {
    ...(detailed !== undefined && { enableDetailedObservability: detailed }),
    ...(enhanced !== undefined && { enableEnhancedMetrics: enhanced }),
    ...(frequencySeconds !== undefined && { metricPublishFrequencyInSeconds: frequencySeconds }),
  };
}
