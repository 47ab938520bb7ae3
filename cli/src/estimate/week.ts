/** What the endpoints of a synthesized app cost in a week, by their schedules. */
import * as z from 'zod';
import type { PlannedStack, Resources } from '../account/assembly.ts';
import { type PlannedVariant, typesOf, variantsOf, warmOf } from '../account/assembly.ts';
import { fires } from './cron.ts';
import type { Prices } from './prices.ts';

/** A variant's week. */
export interface VariantWeek {
  readonly stack: string;
  readonly variant: string;
  /** The first choice, or all of several with ` or ` between; `undefined` if it is serverless. */
  readonly instanceType: string | undefined;
  /** Hours of instances: with the fewest at every time, and with the most. */
  readonly hours: readonly [fewest: number, most: number];
  /** The same in US dollars, without what is paid for by request; undefined if the price is not known. */
  readonly usd: readonly [fewest: number, most: number] | undefined;
  /** Why it costs nothing, or what the hours leave out; undefined if there is nothing to say. */
  readonly note: string | undefined;
}

const limits = z.object({ MinCapacity: z.number(), MaxCapacity: z.number() });
const target = limits.extend({
  ResourceId: z.unknown(),
  ScheduledActions: z
    .array(
      z.object({
        Schedule: z.string(),
        Timezone: z.string().default('UTC'),
        ScalableTargetAction: limits,
      }),
    )
    .default([]),
});
type Target = z.output<typeof target>;

const MINUTE = 60_000;
const WEEK_MINUTES = 7 * 24 * 60;
/** Weeks looked back for the limits that hold at the start: a schedule may be monthly. */
const WEEKS_BEFORE = 5;
/** Offsets of time zones change at quarters of an hour. */
const QUARTER = 15;

/**
 * Every variant's week.
 * @param from start of the week
 */
export function weekOf(stacks: readonly PlannedStack[], prices: Prices, from: Date): VariantWeek[] {
  return stacks.flatMap(({ name: stack, resources }) => {
    const isOn = Object.values(resources).some(({ Type }) => Type === 'AWS::SageMaker::Endpoint');
    return variantsOf(resources).map((variant): VariantWeek => {
      const { VariantName, InitialInstanceCount = 1 } = variant;
      const types = typesOf(variant);
      const instanceType = types.length === 0 ? undefined : types.join(' or ');
      const common = { stack, variant: VariantName, instanceType };
      if (!isOn) return { ...common, hours: [0, 0], usd: [0, 0], note: 'not enabled' };
      const scaled = targetOf(resources, VariantName);
      if (instanceType === undefined) {
        return { ...common, hours: [0, 0], ...serverlessWeek(variant, scaled, prices, from) };
      }
      const { MinInstanceCount: fewest = InitialInstanceCount, MaxInstanceCount: most = fewest } =
        variant.ManagedInstanceScaling ?? {};
      const hours = scaled ? scheduledHours(scaled, from) : ([168 * fewest, 168 * most] as const);
      const known = types.flatMap((type) => prices.instanceHour[type] ?? []);
      if (known.length < types.length) {
        const note = 'the price file has no such type';
        return { ...common, hours, usd: undefined, note };
      }
      const usd = [hours[0] * Math.min(...known), hours[1] * Math.max(...known)] as const;
      return { ...common, hours, usd, note: noteOf(variant) };
    });
  });
}

/** What the hours of an endpoint of components leave out. */
function noteOf({ ManagedInstanceScaling: managed }: PlannedVariant): string | undefined {
  if (!managed) return undefined;
  const shared = 'shared by components';
  if (managed.MinInstanceCount > 0) return shared;
  return `${shared}; asleep it costs nothing, and after the last request instances stay on for a while`;
}

/** Requests are paid for when they come, provisioned concurrency always. */
function serverlessWeek(
  variant: PlannedVariant,
  scaled: Target | undefined,
  prices: Prices,
  from: Date,
): Pick<VariantWeek, 'usd' | 'note'> {
  const warm = warmOf(variant);
  if (!warm) return { usd: [0, 0], note: 'serverless: paid by request' };
  const note = `serverless: ${warm.text} is paid for all the time, requests on top`;
  const { provisionedGBSecond: price } = prices;
  if (price === undefined) {
    return { usd: undefined, note: `${note}; the price file has no provisionedGBSecond` };
  }
  const all = 168 * warm.concurrency;
  const hours = scaled ? scheduledHours(scaled, from) : ([all, all] as const);
  const dollars = (of: number) => of * 3_600 * warm.gigabytes * price;
  return { usd: [dollars(hours[0]), dollars(hours[1])], note };
}

/** An API in front of an endpoint. */
export interface ApiPrice {
  readonly stack: string;
  /** A million calls in US dollars; undefined if the price file has none. */
  readonly usdPerMillionCalls: number | undefined;
  /** Whether a function checks the tokens of calls, which is paid for too. */
  readonly checksTokens: boolean;
}

/** Every API, which costs nothing but its calls. */
export function apisOf(stacks: readonly PlannedStack[], prices: Prices): ApiPrice[] {
  return stacks.flatMap(({ name: stack, resources }) => {
    const types = Object.values(resources).map(({ Type }) => Type);
    const checksTokens = types.includes('AWS::ApiGateway::Authorizer');
    return types
      .filter((type) => type === 'AWS::ApiGateway::RestApi')
      .map(() => ({ stack, usdPerMillionCalls: prices.apiCalls1000000, checksTokens }));
  });
}

/** Autoscaling of a variant. */
function targetOf(resources: Resources, variant: string): Target | undefined {
  return Object.values(resources)
    .filter(({ Type }) => Type === 'AWS::ApplicationAutoScaling::ScalableTarget')
    .flatMap(({ Properties }) => target.safeParse(Properties).data ?? [])
    .find(({ ResourceId }) => JSON.stringify(ResourceId).includes(`/variant/${variant}"`));
}

/** Hours of instances in a week, by the limits that hold in each minute. */
function scheduledHours(scaled: Target, from: Date): readonly [number, number] {
  const clocks = scaled.ScheduledActions.map(({ Timezone }) => clockOf(Timezone));
  let now: z.output<typeof limits> = scaled;
  let [fewest, most] = [0, 0];
  for (let minute = -WEEKS_BEFORE * WEEK_MINUTES; minute < WEEK_MINUTES; minute++) {
    const time = from.getTime() + minute * MINUTE;
    for (const [i, { Schedule, ScalableTargetAction }] of scaled.ScheduledActions.entries()) {
      const local = clocks[i]?.(time);
      if (local && isTime(Schedule, local)) now = ScalableTargetAction;
    }
    if (minute < 0) continue;
    fewest += now.MinCapacity / 60;
    most += now.MaxCapacity / 60;
  }
  return [fewest, most];
}

function isTime(schedule: string, local: Date): boolean {
  const moment = /^at\((.*)\)$/.exec(schedule)?.[1];
  if (moment === undefined) return fires(schedule, local);
  return local.toISOString().startsWith(moment.slice(0, 'YYYY-MM-DDTHH:MM'.length));
}

/** What the clocks of a time zone show, as the UTC fields of a date. */
function clockOf(timeZone: string): (time: number) => Date {
  const format = new Intl.DateTimeFormat('sv', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  let quarter = Number.NaN;
  let offset = 0;
  return (time) => {
    const start = Math.floor(time / MINUTE / QUARTER);
    if (start !== quarter) {
      quarter = start;
      const at = start * QUARTER * MINUTE;
      offset = Date.parse(`${format.format(at).replace(' ', 'T')}Z`) - at;
    }
    return new Date(time + offset);
  };
}
