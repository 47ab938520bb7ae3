/** Alarms of a variant. Each threshold has a reason, and a prop. */
import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Duration } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { QueueMetrics, RequestMetrics, VariantMetrics } from '../endpoint/metrics.ts';
import { type MetricPeriods, periodsOf } from '../rules/metric-periods.ts';

/** Thresholds of the alarms. */
export interface AlarmThresholds {
  /**
   * 5xx answers, percent of the requests of 5 minutes: the service is failing its callers. Of fewer than 10
   * requests, at least 3 must have failed.
   * @default 1
   */
  readonly serverErrorPercent?: number;
  /**
   * 4xx answers, percent of the requests of 15 minutes: a caller or a release is sending what the model
   * refuses. High, because one bad caller is not an outage.
   * @default 25
   */
  readonly clientErrorPercent?: number;
  /**
   * Requests of an asynchronous endpoint that were not answered, in 5 minutes.
   * @default 1
   */
  readonly failedInvocations?: number;
  /**
   * Time that the oldest request of an asynchronous endpoint may wait.
   * @default Duration.hours(1)
   */
  readonly queueAge?: Duration;
  /**
   * P90 of the time in the container over 5 minutes.
   * @default - a sixth of what SageMaker waits at most: 10 seconds, and 10 minutes of an asynchronous endpoint
   */
  readonly modelLatencyP90?: Duration;
  /**
   * Memory, percent, over 5 minutes: the kernel ends the container at 100. There is no such alarm, and none of the disk, for
   * multi-model data: SageMaker takes models away only when there is no room for the next.
   * @default 90
   */
  readonly memoryPercent?: number;
  /**
   * Disk, percent: a full disk stops logs, and models from loading, and a nearly full one data capture.
   * @default - 85, and 75 with data capture
   * @see https://docs.aws.amazon.com/sagemaker/latest/dg/model-monitor-data-capture-endpoint.html
   */
  readonly diskPercent?: number;
}

/** Fewer requests than this in a period make a percentage only with {@link MIN_ERRORS}. */
const MIN_REQUESTS = 10;
/** This number of errors counts among any number of requests; one of two does not. */
const MIN_ERRORS = 3;

interface AlarmSpec {
  readonly id: string;
  readonly description: string;
  readonly metric: IMetric;
  readonly threshold: number;
  /** Periods in a row. */
  readonly periods: number;
}

/** Time that a variant may be slow, or short of memory or disk. */
const PATIENCE_SECONDS = 300;

function share(errors: IMetric, requests: IMetric, period: Duration, label: string): IMetric {
  return new MathExpression({
    expression: `IF(requests >= ${MIN_REQUESTS} OR errors >= ${MIN_ERRORS}, 100 * errors / requests, 0)`,
    usingMetrics: { errors, requests },
    period,
    label,
  });
}

function requestAlarms(
  metrics: RequestMetrics,
  thresholds: AlarmThresholds,
  period: number,
): AlarmSpec[] {
  const short = { period: Duration.minutes(5) };
  const long = { period: Duration.minutes(15) };
  return [
    {
      id: 'ServerErrors',
      description: 'answers with 5xx',
      metric: share(
        metrics.metricServerErrors(short),
        metrics.metricInvocations(short),
        short.period,
        '5xx percent',
      ),
      threshold: thresholds.serverErrorPercent ?? 1,
      periods: 1,
    },
    {
      id: 'ClientErrors',
      description: 'refuses requests with 4xx',
      metric: share(
        metrics.metricClientErrors(long),
        metrics.metricInvocations(long),
        long.period,
        '4xx percent',
      ),
      threshold: thresholds.clientErrorPercent ?? 25,
      periods: 1,
    },
    latencyAlarm(metrics, thresholds, Duration.seconds(10), period),
  ];
}

/**
 * Asynchronous endpoints publish no Invocations, so that a share of them has no data; they count failures.
 * @see https://docs.aws.amazon.com/sagemaker/latest/dg/async-inference-monitor.html
 */
function asyncRequestAlarms(
  metrics: VariantMetrics,
  thresholds: AlarmThresholds,
  period: number,
): AlarmSpec[] {
  return [
    {
      id: 'FailedInvocations',
      description: 'leaves requests unanswered',
      metric: metrics.metricInvocationFailures({ period: Duration.minutes(5) }),
      // Reached, not exceeded: the comparison is greater-than.
      threshold: (thresholds.failedInvocations ?? 1) - 1,
      periods: 1,
    },
    // They do publish ModelLatency, and a request may take an hour.
    latencyAlarm(metrics, thresholds, Duration.minutes(10), period),
  ];
}

function latencyAlarm(
  metrics: RequestMetrics,
  thresholds: AlarmThresholds,
  longest: Duration,
  period: number,
): AlarmSpec {
  const latency = thresholds.modelLatencyP90 ?? longest;
  return {
    id: 'ModelLatency',
    description: 'is slow',
    metric: metrics.metricModelLatency({ period: Duration.seconds(period) }),
    threshold: latency.toMilliseconds() * 1000,
    periods: periodsOf(PATIENCE_SECONDS, period),
  };
}

/** Adds the alarm of an asynchronous endpoint's queue. */
export function queueAlarm(scope: Construct, queue: QueueMetrics, thresholds: AlarmThresholds) {
  return new Alarm(scope, 'QueueAge', {
    alarmDescription: 'The oldest request of the queue has waited too long',
    metric: queue.metricAgeOfOldestRequest(),
    threshold: (thresholds.queueAge ?? Duration.hours(1)).toSeconds(),
    evaluationPeriods: 5,
    comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
    treatMissingData: TreatMissingData.NOT_BREACHING,
  });
}

function resourceAlarms(
  metrics: VariantMetrics,
  thresholds: AlarmThresholds,
  capturesData: boolean,
  seconds: number,
): AlarmSpec[] {
  const period = Duration.seconds(seconds);
  const periods = periodsOf(PATIENCE_SECONDS, seconds);
  return [
    {
      id: 'Memory',
      description: 'runs out of memory',
      metric: metrics.metricMemoryUtilization({ period }),
      threshold: thresholds.memoryPercent ?? 90,
      periods,
    },
    {
      id: 'Disk',
      description: 'runs out of disk',
      metric: metrics.metricDiskUtilization({ period }),
      threshold: thresholds.diskPercent ?? (capturesData ? 75 : 85),
      periods,
    },
  ];
}

/** Adds the alarms of one variant to `scope`. */
export function variantAlarms(
  scope: Construct,
  name: string,
  metrics: VariantMetrics,
  thresholds: AlarmThresholds,
  kind: {
    /** Whether full memory or a full disk is a fault. */
    readonly watchesResources: boolean;
    readonly isAsync: boolean;
    readonly capturesData: boolean;
    readonly periods: MetricPeriods;
  },
): Alarm[] {
  const { requests, instances } = kind.periods;
  const specs = [
    ...(kind.isAsync
      ? asyncRequestAlarms(metrics, thresholds, requests)
      : requestAlarms(metrics, thresholds, requests)),
    ...(kind.watchesResources
      ? resourceAlarms(metrics, thresholds, kind.capturesData, instances)
      : []),
  ];
  return addAlarms(scope, `Variant ${name}`, specs);
}

/** Adds the alarms of one inference component to `scope`: those of its requests. */
export function componentAlarms(
  scope: Construct,
  name: string,
  metrics: RequestMetrics,
  thresholds: AlarmThresholds,
  { requests }: MetricPeriods,
): Alarm[] {
  return addAlarms(scope, `Component ${name}`, requestAlarms(metrics, thresholds, requests));
}

function addAlarms(scope: Construct, subject: string, specs: readonly AlarmSpec[]): Alarm[] {
  return specs.map(
    ({ id, description, metric, threshold, periods }) =>
      new Alarm(scope, id, {
        alarmDescription: `${subject} ${description}`,
        metric,
        threshold,
        evaluationPeriods: periods,
        comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
        treatMissingData: TreatMissingData.NOT_BREACHING,
      }),
  );
}
