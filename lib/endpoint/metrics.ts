/**
 * The metrics that SageMaker publishes for a variant.
 * @see https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch.html
 */
import { Metric, type MetricOptions, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { Duration } from 'aws-cdk-lib/core';

/** SageMaker's counts and latencies of requests. */
const REQUESTS = 'AWS/SageMaker';
/** What the agent on the instances measures. */
const INSTANCES = '/aws/sagemaker/Endpoints';

/** Requests of a variant or of an inference component. */
export abstract class RequestMetrics {
  private readonly dimensions: Readonly<Record<string, string>>;

  protected constructor(dimensions: Readonly<Record<string, string>>) {
    this.dimensions = dimensions;
  }

  /** Requests sent to the model. @default sum over 1 minute */
  metricInvocations(options?: MetricOptions): Metric {
    return this.count('Invocations', options);
  }

  /** Answers with a 4xx status. @default sum over 1 minute */
  metricClientErrors(options?: MetricOptions): Metric {
    return this.count('Invocation4XXErrors', options);
  }

  /** Answers with a 5xx status. @default sum over 1 minute */
  metricServerErrors(options?: MetricOptions): Metric {
    return this.count('Invocation5XXErrors', options);
  }

  /** Time in the container, microseconds. @default p90 over 1 minute */
  metricModelLatency(options?: MetricOptions): Metric {
    return this.latency('ModelLatency', options);
  }

  /** Time that SageMaker adds before and after the container, microseconds. @default p90 over 1 minute */
  metricOverheadLatency(options?: MetricOptions): Metric {
    return this.latency('OverheadLatency', options);
  }

  protected count(metricName: string, options?: MetricOptions): Metric {
    return this.metric(REQUESTS, metricName, { statistic: Stats.SUM, ...options });
  }

  protected latency(metricName: string, options?: MetricOptions): Metric {
    return this.metric(REQUESTS, metricName, { statistic: Stats.p(90), ...options });
  }

  /**
   * Any other metric with the same dimensions, such as a custom one of the runtime's.
   * @default - average over 1 minute
   */
  metric(namespace: string, metricName: string, options?: MetricOptions): Metric {
    return new Metric({
      namespace,
      metricName,
      period: Duration.minutes(1),
      dimensionsMap: { ...this.dimensions },
      ...options,
    });
  }
}

/** Metrics of one variant of an endpoint. */
export class VariantMetrics extends RequestMetrics {
  /**
   * @param endpointConfigName counts only the instances that run this configuration: during an update, one
   *   fleet and not both. Default: all of the endpoint's
   */
  constructor(endpointName: string, variantName: string, endpointConfigName?: string) {
    super({
      EndpointName: endpointName,
      VariantName: variantName,
      ...(endpointConfigName !== undefined && { EndpointConfigName: endpointConfigName }),
    });
  }

  /** Requests sent, for each instance; autoscaling follows it. @default sum over 1 minute */
  metricInvocationsPerInstance(options?: MetricOptions): Metric {
    return this.count('InvocationsPerInstance', options);
  }

  /** Asynchronous requests that were not answered, for whatever reason. @default sum over 1 minute */
  metricInvocationFailures(options?: MetricOptions): Metric {
    return this.count('InvocationFailures', options);
  }

  /** Asynchronous requests that were worked on, well or not. @default sum over 1 minute */
  metricInvocationsProcessed(options?: MetricOptions): Metric {
    return this.count('InvocationsProcessed', options);
  }

  /** Time to start compute for a serverless endpoint, microseconds. @default p90 over 1 minute */
  metricModelSetupTime(options?: MetricOptions): Metric {
    return this.latency('ModelSetupTime', options);
  }

  /** Percent of one CPU times the number of CPUs. @default average over 1 minute */
  metricCpuUtilization(options?: MetricOptions): Metric {
    return this.utilization('CPUUtilization', options);
  }

  /** Percent. @default average over 1 minute */
  metricMemoryUtilization(options?: MetricOptions): Metric {
    return this.utilization('MemoryUtilization', options);
  }

  /** Percent of one GPU times the number of GPUs. @default average over 1 minute */
  metricGpuUtilization(options?: MetricOptions): Metric {
    return this.utilization('GPUUtilization', options);
  }

  /** Percent of one GPU's memory times the number of GPUs. @default average over 1 minute */
  metricGpuMemoryUtilization(options?: MetricOptions): Metric {
    return this.utilization('GPUMemoryUtilization', options);
  }

  /** Percent. @default average over 1 minute */
  metricDiskUtilization(options?: MetricOptions): Metric {
    return this.utilization('DiskUtilization', options);
  }

  private utilization(metricName: string, options?: MetricOptions): Metric {
    return this.metric(INSTANCES, metricName, { statistic: Stats.AVERAGE, ...options });
  }
}

/**
 * Metrics of an asynchronous endpoint's queue.
 * @see https://docs.aws.amazon.com/sagemaker/latest/dg/async-inference-monitor.html
 */
export class QueueMetrics {
  private readonly endpointName: string;

  constructor(endpointName: string) {
    this.endpointName = endpointName;
  }

  /** Requests waiting or being worked on. @default average over 1 minute */
  metricBacklog(options?: MetricOptions): Metric {
    return this.metric('ApproximateBacklogSize', options);
  }

  /** The same for each instance. @default average over 1 minute */
  metricBacklogPerInstance(options?: MetricOptions): Metric {
    return this.metric('ApproximateBacklogSizePerInstance', options);
  }

  /** Seconds that the oldest request has waited. @default maximum over 1 minute */
  metricAgeOfOldestRequest(options?: MetricOptions): Metric {
    return this.metric('ApproximateAgeOfOldestRequest', { statistic: Stats.MAXIMUM, ...options });
  }

  /** 1 where requests wait and no instance runs. @default average over 1 minute */
  metricHasBacklogWithoutCapacity(options?: MetricOptions): Metric {
    return this.metric('HasBacklogWithoutCapacity', options);
  }

  private metric(metricName: string, options?: MetricOptions): Metric {
    return new Metric({
      namespace: REQUESTS,
      metricName,
      statistic: Stats.AVERAGE,
      period: Duration.minutes(1),
      dimensionsMap: { EndpointName: this.endpointName },
      ...options,
    });
  }
}
