/** What a first deployment makes and costs. */

import { type PlannedStack, variantsOf, warmOf } from '../account/assembly.ts';
import type { Prices } from './prices.ts';

/** One line of the plan. */
interface PlanLine {
  readonly stack: string;
  readonly makes: string;
  /** US dollars an hour from the deployment on, of `usdWhile`; undefined if the price is not known. */
  readonly usdAnHour: number | undefined;
  readonly usdWhile: string;
}

/** The plan, in the order of the deployment. */
export function planOf(stacks: readonly PlannedStack[], prices: Prices): PlanLine[] {
  return stacks.flatMap(({ name: stack, fleets, isServerless, resources }): PlanLine[] => [
    ...fleets.map(({ type, use, atFirst, most }) => {
      const price = prices.instanceHour[type];
      const instances = use === 'endpoint' ? atFirst : most;
      const usdAnHour = price === undefined ? undefined : instances * price;
      const usdWhile = use === 'endpoint' ? 'from deployment until deletion' : 'while jobs run';
      return { stack, makes: `${instances} x ${type} (${use})`, usdAnHour, usdWhile };
    }),
    ...(isServerless
      ? [{ stack, makes: 'serverless endpoint', usdAnHour: 0, usdWhile: 'beside requests' }]
      : []),
    ...variantsOf(resources).flatMap((variant): PlanLine[] => {
      const warm = warmOf(variant);
      if (!warm) return [];
      const { provisionedGBSecond: price } = prices;
      const usdAnHour =
        price === undefined ? undefined : warm.concurrency * warm.gigabytes * 3_600 * price;
      return [{ stack, makes: warm.text, usdAnHour, usdWhile: 'from deployment until deletion' }];
    }),
    ...(fleets.length === 0 && !isServerless
      ? [{ stack, makes: 'no instances', usdAnHour: 0, usdWhile: '-' }]
      : []),
  ]);
}
