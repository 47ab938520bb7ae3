/** What SageMaker refuses of an update of an endpoint. */

import type { Problem } from '../problem.ts';
import { DEPLOYMENT_SECONDS } from './bounds.ts';

type ShiftType = 'all-at-once' | 'canary' | 'linear' | 'rolling';

/** A shift of traffic as far as its time goes. */
export interface ShiftTimes {
  readonly type: ShiftType;
  readonly percent?: number;
  readonly waitSeconds?: number;
}

/**
 * Seconds that a deployment waits in all: after each step but the last, then the bake time.
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_BlueGreenUpdatePolicy.html
 */
export function deploymentSeconds(shift: ShiftTimes, bakeSeconds: number): number {
  const { type, percent = 100, waitSeconds = 0 } = shift;
  if (type === 'all-at-once') return bakeSeconds;
  if (type === 'canary') return waitSeconds + bakeSeconds;
  const steps = Math.ceil(100 / percent);
  return type === 'rolling' ? steps * waitSeconds : (steps - 1) * waitSeconds + bakeSeconds;
}

/** Seconds that SageMaker keeps the old fleet where none are given. */
export const DEFAULT_BAKE_SECONDS = 300;

/** What SageMaker would refuse: waits that are longer than the deployment may take. */
export function deploymentTimeProblem(
  shift: ShiftTimes,
  bakeSeconds: number,
  timeoutSeconds = DEPLOYMENT_SECONDS[1],
): Problem {
  const seconds = deploymentSeconds(shift, bakeSeconds);
  if (seconds < timeoutSeconds) return undefined;
  return {
    problem: `its waits take ${seconds} seconds in all, and the deployment may take ${timeoutSeconds}`,
    fix: 'Wait less after each step, or take larger steps',
  };
}

/** A part of a fleet that has none. @param fewestInstances after autoscaling has removed what it may */
export function fleetProblem(type: ShiftType, fewestInstances: number): Problem {
  if (type === 'all-at-once' || fewestInstances >= 2) return undefined;
  return {
    problem: `'${type}' moves part of a fleet, and a variant can have one instance`,
    fix: `Give every variant an instanceCount (and scaling.minInstances) of 2 or more, or use { type: 'all-at-once' }`,
  };
}

/** @see https://docs.aws.amazon.com/sagemaker/latest/dg/deployment-guardrails-exclusions.html */
export function rollingProblem(type: ShiftType, variants: number): Problem {
  if (type !== 'rolling' || variants < 2) return undefined;
  const problem = `'rolling' is for endpoints with one variant, and this has ${variants}`;
  return { problem, fix: 'Use canary, linear or all-at-once' };
}

const MAX_ROLLBACK_ALARMS = 10;

/**
 * More alarms than roll an update back.
 * @param count the endpoint's own with those that are given
 * @param watchesLatency whether each variant has an alarm of its latency
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_AutoRollbackConfig.html
 */
export function rollbackAlarmsProblem(
  count: number,
  watchesLatency: boolean,
  latencyField: string,
): Problem {
  if (count <= MAX_ROLLBACK_ALARMS) return undefined;
  return {
    problem: `${count} alarms, with the endpoint's own, and SageMaker takes ${MAX_ROLLBACK_ALARMS}`,
    fix: watchesLatency
      ? `Leave out ${latencyField}, which is an alarm for each variant`
      : 'Use fewer variants, or combine alarms of your own in one',
  };
}

/** A time to keep the old fleet; a rolling deployment has no old fleet to keep. */
export function bakeProblem(type: ShiftType, bakeTime: unknown): Problem {
  if (type !== 'rolling' || bakeTime === undefined) return undefined;
  return { problem: `given with 'rolling'`, fix: 'Leave it out' };
}
