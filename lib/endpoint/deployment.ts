/**
 * How an update reaches the instances (SageMaker's deployment guardrails): traffic moves from the old
 * fleet to a new one, and back when an alarm sounds.
 * @see https://docs.aws.amazon.com/sagemaker/latest/dg/deployment-guardrails.html
 */
import type { IAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import type { CfnEndpoint } from 'aws-cdk-lib/aws-sagemaker';
import { Duration } from 'aws-cdk-lib/core';
import {
  BAKE_SECONDS,
  DEPLOYMENT_SECONDS,
  STEP_WAIT_SECONDS,
  TRAFFIC_SHARES,
} from '../rules/bounds.ts';
import {
  bakeProblem,
  DEFAULT_BAKE_SECONDS,
  deploymentTimeProblem,
  fleetProblem,
  rollbackAlarmsProblem,
  rollingProblem,
} from '../rules/deployment.ts';
import { type MetricPeriods, unwatchedProblem } from '../rules/metric-periods.ts';
import { checkInteger, checkRange, refuseProblem, type Where } from '../validation.ts';

/** How traffic moves to the new instances. */
export type TrafficShift =
  /** All traffic in one step, once the whole new fleet is healthy. */
  | { readonly type: 'all-at-once' }
  /** First `percent` of the capacity (1-50), then, after `wait`, the rest. */
  | { readonly type: 'canary'; readonly percent: number; readonly wait: Duration }
  /** `percent` of the capacity (10-50) after every `wait`. */
  | { readonly type: 'linear'; readonly percent: number; readonly wait: Duration }
  /** Batches of `percent` of the capacity (5-50) replaced in place: needs no second fleet. */
  | { readonly type: 'rolling'; readonly percent: number; readonly wait: Duration };

/** Props of deployment guardrails. */
export interface DeploymentProps {
  /**
   * How traffic moves to the new instances.
   * @default - all-at-once
   */
  readonly traffic?: TrafficShift;
  /**
   * How long the old fleet waits, ready to take over again, after all traffic has moved; at most 1 hour.
   * Not with `rolling`.
   * @default Duration.minutes(5)
   */
  readonly bakeTime?: Duration;
  /**
   * Time for the whole deployment, 10 minutes to 8 hours; then it rolls back.
   * @default - SageMaker's own limit
   */
  readonly timeout?: Duration;
  /**
   * 5xx answers of a variant within one minute that roll the update back; between two publications if `metricsConfig`
   * has `enhanced` and more than 60 `frequencySeconds`.
   * @default 5
   */
  readonly serverErrorsPerMinute?: number;
  /**
   * P90 of the time in the container that rolls the update back when it is exceeded for 3 minutes.
   * @default - latency is not watched
   */
  readonly modelLatencyP90?: Duration;
  /**
   * More alarms that roll the update back. SageMaker takes 10 in all. One that sounds already, or that also counts
   * the old fleet's errors, ends the update that would mend them: let it watch what only the new release does. With
   * a composite or imported alarm the models' roles may read all alarms, as CloudWatch asks.
   * @default - none
   */
  readonly rollbackAlarms?: readonly IAlarm[];
}

/** What a deployment moves. */
interface Fleets {
  /** Production variants. */
  readonly variants: number;
  /** Instances of the smallest, after autoscaling has removed what it may. */
  readonly fewestInstances: number;
}

/** SageMaker's form of the props. @throws naming the prop that SageMaker would refuse */
export function renderDeployment(
  where: Where,
  props: DeploymentProps,
  fleets: Fleets,
  alarms: readonly IAlarm[],
  periods: MetricPeriods,
): CfnEndpoint.DeploymentConfigProperty {
  const watchesLatency = props.modelLatencyP90 !== undefined;
  refuseProblem(
    where,
    'deployment.rollbackAlarms',
    rollbackAlarmsProblem(alarms.length, watchesLatency, 'modelLatencyP90'),
  );
  const traffic = props.traffic ?? { type: 'all-at-once' };
  checkTraffic(where, traffic, fleets);
  const timeout = props.timeout?.toSeconds();
  checkRange(where, 'deployment.timeout', timeout, ...DEPLOYMENT_SECONDS, 'seconds');
  checkTime(where, traffic, props, periods);
  refuseProblem(where, 'deployment.bakeTime', bakeProblem(traffic.type, props.bakeTime));
  const limits = { ...(timeout !== undefined && { maximumExecutionTimeoutInSeconds: timeout }) };
  const autoRollbackConfiguration = {
    alarms: alarms.map(({ alarmName }) => ({ alarmName })),
  };
  if (traffic.type === 'rolling') {
    return {
      autoRollbackConfiguration,
      rollingUpdatePolicy: {
        maximumBatchSize: capacity(traffic.percent),
        waitIntervalInSeconds: traffic.wait.toSeconds(),
        ...limits,
      },
    };
  }
  const bakeTime = (props.bakeTime ?? DEFAULT_BAKE).toSeconds();
  checkRange(where, 'deployment.bakeTime', bakeTime, ...BAKE_SECONDS, 'seconds');
  return {
    autoRollbackConfiguration,
    blueGreenUpdatePolicy: {
      terminationWaitInSeconds: bakeTime,
      trafficRoutingConfiguration: renderTraffic(traffic),
      ...limits,
    },
  };
}

/** 5xx answers in a minute that roll an update back. */
export const DEFAULT_SERVER_ERRORS = 5;
/** Bake time by default. */
const DEFAULT_BAKE = Duration.seconds(DEFAULT_BAKE_SECONDS);

function checkTime(
  where: Where,
  traffic: TrafficShift,
  props: DeploymentProps,
  periods: MetricPeriods,
): void {
  const times = {
    type: traffic.type,
    ...(traffic.type !== 'all-at-once' && {
      percent: traffic.percent,
      waitSeconds: traffic.wait.toSeconds(),
    }),
  };
  const bake = (props.bakeTime ?? DEFAULT_BAKE).toSeconds();
  const timeout = props.timeout?.toSeconds();
  refuseProblem(where, 'deployment.traffic', deploymentTimeProblem(times, bake, timeout));
  const unwatched = unwatchedProblem(times, bake, periods, props.modelLatencyP90 !== undefined);
  refuseProblem(where, 'metricsConfig.frequencySeconds', unwatched);
}

/** Refuses a shift of traffic that these fleets cannot make. */
export function checkTraffic(where: Where, traffic: TrafficShift, fleets: Fleets): void {
  if (traffic.type === 'all-at-once') return;
  const share = TRAFFIC_SHARES[traffic.type];
  checkInteger(where, 'deployment.traffic.percent', traffic.percent, ...share, 'percent');
  const wait = traffic.wait.toSeconds();
  checkRange(where, 'deployment.traffic.wait', wait, ...STEP_WAIT_SECONDS, 'seconds');
  const problem =
    rollingProblem(traffic.type, fleets.variants) ??
    fleetProblem(traffic.type, fleets.fewestInstances);
  refuseProblem(where, 'deployment.traffic', problem);
}

function renderTraffic(
  traffic: Exclude<TrafficShift, { type: 'rolling' }>,
): CfnEndpoint.TrafficRoutingConfigProperty {
  // The API requires a wait also where there is no second step.
  if (traffic.type === 'all-at-once') return { type: 'ALL_AT_ONCE', waitIntervalInSeconds: 0 };
  const waitIntervalInSeconds = traffic.wait.toSeconds();
  return traffic.type === 'canary'
    ? { type: 'CANARY', canarySize: capacity(traffic.percent), waitIntervalInSeconds }
    : { type: 'LINEAR', linearStepSize: capacity(traffic.percent), waitIntervalInSeconds };
}

function capacity(value: number): CfnEndpoint.CapacitySizeProperty {
  return { type: 'CAPACITY_PERCENT', value };
}
