/** Limits of autoscaling that change by the clock, as Application Auto Scaling takes them. */

import type { Problem } from '../problem.ts';
import { scheduleProblem } from './limits.ts';

/** Other limits from a time on, until the next entry of the schedule sets others. */
export interface ScheduledLimits {
  /**
   * When: `cron(0 8 ? * MON-FRI *)` with six fields (minutes, hours, day of month, month, day of week, year), or once,
   * `at(2026-12-24T18:00:00)`.
   */
  readonly when: string;
  /**
   * Time zone of `when` by IANA's name, such as `Europe/Berlin`; it follows daylight saving time.
   * @default 'UTC'
   */
  readonly timeZone?: string;
  /**
   * Fewest instances.
   * @default - `minInstances` of the scaling
   */
  readonly minInstances?: number;
  /**
   * Most instances.
   * @default - `maxInstances` of the scaling
   */
  readonly maxInstances?: number;
}

/** An entry as checked configurations have it too, where a field may be undefined. */
type Entry = { readonly [K in keyof ScheduledLimits]: ScheduledLimits[K] | undefined } & {
  readonly when: string;
};

/** Limits that hold without a schedule. */
export interface Limits {
  readonly minInstances?: number | undefined;
  readonly maxInstances: number;
  readonly schedule?: readonly Entry[] | undefined;
}

/** A scheduled entry with its defaults. */
export function limitsOf(entry: Entry, { minInstances = 1, maxInstances }: Limits) {
  return {
    minInstances: entry.minInstances ?? minInstances,
    maxInstances: entry.maxInstances ?? maxInstances,
  };
}

/** The fewest instances at any time. */
export function fewestAtAnyTime(limits: Limits): number {
  const scheduled = (limits.schedule ?? []).map((entry) => limitsOf(entry, limits).minInstances);
  return Math.min(limits.minInstances ?? 1, ...scheduled);
}

/**
 * A type that automatic scaling does not support.
 * @see https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling.html
 */
export function burstableProblem(instanceTypes: readonly string[]): Problem {
  const burstable = instanceTypes.find((type) => /^ml\.t\d/.test(type));
  if (burstable === undefined) return undefined;
  return {
    problem: `${burstable} is burstable, and such types do not scale`,
    fix: 'Leave scaling out, or choose another type such as ml.c6i.xlarge',
  };
}

/** No instances, where no queue keeps what comes in. */
export function sleepProblem(minInstances: number, async: boolean): Problem {
  if (minInstances > 0 || async) return undefined;
  return {
    problem: '0 is for asynchronous endpoints: a real-time request has no queue to wait in',
    fix: 'Give 1 or more, or make the endpoint asynchronous or serverless; `enabled: false` of the endpoint takes the last one away',
  };
}

/** A load that the endpoint does not have. */
export function targetProblem(target: object, async: boolean): Problem {
  if ('backlog' in target === async) return undefined;
  return async
    ? { problem: 'an asynchronous endpoint scales on its queue', fix: 'Give { backlog: N }' }
    : {
        problem: `'backlog' needs a queue`,
        fix: 'Give invocationsPerMinute or concurrentRequests, or make the endpoint asynchronous',
      };
}

/**
 * The first part of an entry that AWS would refuse, by its field.
 * @see https://docs.aws.amazon.com/autoscaling/application/APIReference/API_PutScheduledAction.html
 */
export function scheduledLimitsProblem(
  entry: Entry,
  limits: Limits,
  async: boolean,
): readonly [field: string, problem: NonNullable<Problem>] | undefined {
  const when = whenProblem(entry.when);
  if (when) return ['when', when];
  const zone = timeZoneProblem(entry.timeZone ?? 'UTC');
  if (zone) return ['timeZone', zone];
  const { minInstances, maxInstances } = limitsOf(entry, limits);
  if (minInstances > maxInstances) {
    const problem = `at least ${minInstances} instances and at most ${maxInstances}`;
    return ['minInstances', { problem, fix: 'Give a minInstances that is no more' }];
  }
  const asleep = sleepProblem(minInstances, async);
  return asleep && ['minInstances', asleep];
}

/** Local time is behind UTC by this at most, milliseconds. */
const MOST_BEHIND = 12 * 3_600_000;

/** Whether the one time of an entry has passed, so that it never comes. */
export function hasPassed({ when, timeZone = 'UTC' }: Entry, now: number = Date.now()): boolean {
  const moment = momentOf(when);
  if (moment === undefined || !isMoment(moment)) return false;
  return Date.parse(`${moment}Z`) + (timeZone === 'UTC' ? 0 : MOST_BEHIND) < now;
}

function momentOf(when: string): string | undefined {
  return /^at\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\)$/.exec(when)?.[1];
}

function whenProblem(when: string): Problem {
  if (when.startsWith('cron(')) return scheduleProblem(when);
  const moment = momentOf(when);
  if (moment !== undefined && isMoment(moment)) return undefined;
  return {
    problem: `'${when}' is no time`,
    fix: 'Write cron(0 8 ? * MON-FRI *), or at(2026-12-24T18:00:00)',
  };
}

/** Whether there is such a day and time. */
function isMoment(text: string): boolean {
  const date = new Date(`${text}Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

function timeZoneProblem(timeZone: string): Problem {
  // Intl also takes offsets such as +01:00, which have no daylight saving time and are no names.
  if (/^[A-Z]/i.test(timeZone) && isKnownZone(timeZone)) return undefined;
  return {
    problem: `'${timeZone}' is no time zone`,
    fix: 'Write the name that IANA has, such as Europe/Berlin or America/New_York',
  };
}

function isKnownZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
    return true;
  } catch {
    return false;
  }
}
