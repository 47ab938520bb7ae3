/** Periods of alarms: none is shorter than the time between two publications, or most of its points are missing. */

import type { Problem } from '../problem.ts';
import { deploymentSeconds, type ShiftTimes } from './deployment.ts';

/** Shortest period of the alarms, and SageMaker's time between two publications if none is set. */
const MINUTE = 60;

/** Seconds of the periods in which metrics have a point. */
export interface MetricPeriods {
  /** Of requests and latencies. */
  readonly requests: number;
  /** Of memory, disk, CPUs and GPUs. */
  readonly instances: number;
}

/**
 * Periods of an endpoint's metrics. A frequency is that of requests too if metrics are enhanced.
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_MetricsConfig.html
 */
export function metricPeriods(
  metrics: {
    readonly enhanced?: boolean | undefined;
    readonly frequencySeconds?: number | undefined;
  } = {},
): MetricPeriods {
  const instances = Math.max(MINUTE, metrics.frequencySeconds ?? MINUTE);
  return { instances, requests: metrics.enhanced ? instances : MINUTE };
}

/**
 * Number of periods that a time takes.
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
 */
export function periodsOf(seconds: number, period: number): number {
  return Math.ceil(seconds / period);
}

/** Time that a new fleet may be slow. */
export const SLOW_SECONDS = 180;

/** A deployment that ends before its alarms have the points that they need. */
export function unwatchedProblem(
  shift: ShiftTimes,
  bakeSeconds: number,
  { requests }: MetricPeriods,
  watchesLatency: boolean,
): Problem {
  if (requests <= MINUTE) return undefined;
  const periods = watchesLatency ? periodsOf(SLOW_SECONDS, requests) : 1;
  // One more: the first may have begun with the old fleet.
  const needed = (periods + 1) * requests;
  const watched = deploymentSeconds(shift, bakeSeconds);
  if (watched >= needed) return undefined;
  return {
    problem: `${requests} seconds, so that an update's alarms need ${needed} seconds, and it is watched for ${watched}`,
    fix: 'Publish more often, leave enhanced out, or let the update wait longer',
  };
}
