/** Prices of instances from the AWS Price List API, for accounts whose credentials allow `pricing:GetProducts`. */
import { PricingClient, paginateGetProducts } from '@aws-sdk/client-pricing';
import * as z from 'zod';
import { awsError } from '../batch/aws/aws-error.ts';
import { CommandError } from '../errors.ts';
import type { Way } from './workload.ts';

/** How the usage types of the ways begin, behind the region's own prefix. */
const USAGE: Record<Exclude<Way, 'packed' | 'worker'>, string> = {
  batch: 'Tsform:',
  endpoint: 'Host:',
  async: 'AsyncInf:',
};

const product = z.object({
  product: z.object({ attributes: z.object({ usagetype: z.string() }) }),
  terms: z.object({
    OnDemand: z.record(
      z.string(),
      z.object({
        priceDimensions: z.record(
          z.string(),
          z.object({ pricePerUnit: z.object({ USD: z.coerce.number() }) }),
        ),
      }),
    ),
  }),
});

/**
 * On-demand price of an instance's hour for each way; a way that is not offered with this type is absent.
 * @throws CommandError PRICE_UNKNOWN
 */
export async function livePrices(
  instanceType: string,
  region: string,
): Promise<Readonly<Partial<Record<Way, number>>>> {
  // The service has few regions; this one has the prices of all.
  const client = new PricingClient({ region: 'us-east-1' });
  const filter = (Field: string, Value: string) => ({ Type: 'TERM_MATCH' as const, Field, Value });
  const found: Partial<Record<Way, number>> = {};
  try {
    const pages = paginateGetProducts(
      { client },
      {
        ServiceCode: 'AmazonSageMaker',
        Filters: [filter('regionCode', region), filter('instanceName', instanceType)],
      },
    );
    for await (const { PriceList = [] } of pages) {
      for (const text of PriceList) add(found, instanceType, JSON.parse(String(text)));
    }
  } catch (error) {
    throw awsError(error);
  } finally {
    client.destroy();
  }
  if (Object.keys(found).length === 0) {
    throw new CommandError(
      'PRICE_UNKNOWN',
      `AWS's price list has no ${instanceType} in ${region}. Check both names.`,
    );
  }
  return found;
}

function add(found: Partial<Record<Way, number>>, instanceType: string, json: unknown): void {
  const parsed = product.safeParse(json);
  if (!parsed.success) return;
  const { product: sold, terms } = parsed.data;
  for (const [way, usage] of Object.entries(USAGE)) {
    if (!sold.attributes.usagetype.endsWith(usage + instanceType)) continue;
    const [term] = Object.values(terms.OnDemand);
    const [price] = Object.values(term?.priceDimensions ?? {});
    if (price) found[way as Way] = price.pricePerUnit.USD;
  }
}
