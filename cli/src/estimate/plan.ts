/** What a first deployment makes and costs. */

import { vcpusOf } from '@sagemaker-tfs/batch/instance-types';
import { type PlannedStack, variantsOf, type WorkerFleet, warmOf } from '../account/assembly.ts';
import { type Prices, SPOT_SHARE } from './prices.ts';

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
  return stacks.flatMap(({ name: stack, fleets, workers, isServerless, resources }): PlanLine[] => [
    ...fleets.map(({ type, use, atFirst, most }) => {
      const price = prices.instanceHour[type];
      const instances = use === 'endpoint' ? atFirst : most;
      const usdAnHour = price === undefined ? undefined : instances * price;
      const usdWhile = use === 'endpoint' ? 'from deployment until deletion' : 'while jobs run';
      return { stack, makes: `${instances} x ${type} (${use})`, usdAnHour, usdWhile };
    }),
    ...workers.map((fleet) => ({ stack, ...planOfWorkers(fleet, prices) })),
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
    ...(fleets.length + workers.length === 0 && !isServerless
      ? [{ stack, makes: 'no instances', usdAnHour: 0, usdWhile: '-' }]
      : []),
  ]);
}

/**
 * Instances of EC2, whose prices are not in the file: SageMaker's for the dearest type are above them. SageMaker does not have
 * every type; the line names those without a price.
 */
function planOfWorkers(
  { types, spot, vcpus }: WorkerFleet,
  { instanceHour }: Prices,
): Omit<PlanLine, 'stack'> {
  const instances = Math.ceil(vcpus / Math.max(1, ...types.map((type) => vcpusOf(type) ?? 0)));
  const known = types.flatMap((type) => {
    const price = instanceHour[`ml.${type}`];
    return price === undefined ? [] : [{ type, price }];
  });
  const [dearest] = known.toSorted((a, b) => b.price - a.price);
  const share = spot ? SPOT_SHARE : 1;
  const makes = `${instances} x ${types.join(' or ')} (${spot ? 'spot workers' : 'workers'})`;
  if (!dearest) return { makes, usdAnHour: undefined, usdWhile: 'while jobs run' };
  const others = types.filter((type) => instanceHour[`ml.${type}`] === undefined);
  const without = others.length > 0 ? `, without ${others.join(' and ')}` : '';
  const of = `${spot ? `${SPOT_SHARE * 100}% of ` : ''}SageMaker's price of ${dearest.type}${without}`;
  return {
    makes,
    usdAnHour: instances * dearest.price * share,
    usdWhile: `while jobs run; assumed: ${of}`,
  };
}
