/**
 * The metrics that SageMaker publishes for an inference component.
 * @see https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch.html
 */
import { type Metric, type MetricOptions, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { RequestMetrics } from '../endpoint/metrics.ts';

const REQUESTS = 'AWS/SageMaker';
/** What copies use of what is set aside for them. */
export const COPIES_NAMESPACE = '/aws/sagemaker/InferenceComponents';

/** Metrics of one inference component. */
export class ComponentMetrics extends RequestMetrics {
  /** @param componentName SageMaker's name */
  constructor(componentName: string) {
    super({ InferenceComponentName: componentName });
  }

  /** Requests sent, for each copy; autoscaling follows it. @default sum over 1 minute */
  metricInvocationsPerCopy(options?: MetricOptions): Metric {
    return this.count('InvocationsPerCopy', options);
  }

  /** Requests in flight, for each copy. @default maximum over 1 minute */
  metricConcurrentRequestsPerCopy(options?: MetricOptions): Metric {
    const statistic = Stats.MAXIMUM;
    return this.metric(REQUESTS, 'ConcurrentRequestsPerCopy', { statistic, ...options });
  }

  /** Requests that were refused because there was no copy; they wake the component. @default sum over 1 minute */
  metricNoCapacityFailures(options?: MetricOptions): Metric {
    return this.count('NoCapacityInvocationFailures', options);
  }

  /** Percent of the CPUs that are set aside. @default average over 1 minute */
  metricCpuUtilization(options?: MetricOptions): Metric {
    return this.utilization('CPUUtilizationNormalized', options);
  }

  /** Percent of the memory that is set aside. @default average over 1 minute */
  metricMemoryUtilization(options?: MetricOptions): Metric {
    return this.utilization('MemoryUtilizationNormalized', options);
  }

  /** Percent of the GPUs that are set aside. @default average over 1 minute */
  metricGpuUtilization(options?: MetricOptions): Metric {
    return this.utilization('GPUUtilizationNormalized', options);
  }

  /** Percent of the memory of those GPUs. @default average over 1 minute */
  metricGpuMemoryUtilization(options?: MetricOptions): Metric {
    return this.utilization('GPUMemoryUtilizationNormalized', options);
  }

  private utilization(metricName: string, options?: MetricOptions): Metric {
    return this.metric(COPIES_NAMESPACE, metricName, { statistic: Stats.AVERAGE, ...options });
  }
}
