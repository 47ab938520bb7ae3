/** On-demand prices: the project's dated file, or one of the user's in the same form. */
import { readFile } from 'node:fs/promises';
import { fieldWords, wrongFields } from '@sagemaker-tfs/manifest';
import * as z from 'zod';
import shipped from '../../../prices/us-east-1.json' with { type: 'json' };
import { CommandError } from '../errors.ts';

const usd = z.number().min(0);

const schema = z.strictObject({
  region: z.string(),
  currency: z.literal('USD'),
  /** When the prices were read: a year, a month or a day. */
  asOf: z.string(),
  source: z.string(),
  /** What other pages say of these prices, by their address. */
  checks: z.record(z.string(), z.string()).optional(),
  /** One hour of one instance of real-time inference or batch transform. */
  instanceHour: z.record(z.string(), usd),
  serverlessGBSecond: usd,
  /** Provisioned concurrency, paid for whether there are requests or not. */
  provisionedGBSecond: usd.optional(),
  /** Calls of API Gateway's REST APIs. */
  apiCalls1000000: usd.optional(),
  /** Data in and out of endpoints. */
  hostingDataGB: usd,
  /** Data through a NAT gateway. */
  natGB: usd.optional(),
  kmsRequests10000: usd.optional(),
  /** CloudWatch Logs: what comes in, and what is kept. */
  logs: z.strictObject({ ingestedGB: usd, storedGBMonth: usd }).optional(),
  s3: z.strictObject({
    getRequests1000: usd,
    putRequests1000: usd,
    listRequests1000: usd,
    storageGBMonth: usd,
  }),
});

/** Prices in US dollars. */
export type Prices = z.output<typeof schema>;

/** Reads a price file; without one, the project's (`prices/`). @throws CommandError PRICES_INVALID */
export async function readPrices(file?: string): Promise<Prices> {
  if (file === undefined) return schema.parse(shipped);
  try {
    return schema.parse(JSON.parse(await readFile(file, 'utf8')), { error: fieldWords });
  } catch (cause) {
    const reason = cause instanceof z.ZodError ? new Error(wrongFields(cause).join('\n  ')) : cause;
    throw new CommandError(
      'PRICES_INVALID',
      `${file} is not a price file. Write it like prices/us-east-1.json.`,
      { cause: reason },
    );
  }
}

/**
 * When and where prices are from, and that they are from memory where they are: as every figure must say.
 * @param regions of the stacks that are priced; undefined if an app leaves it open
 */
export function originOf(
  { asOf, source, region }: Prices,
  regions: readonly (string | undefined)[] = [],
): string {
  const others = [...new Set(regions)].filter((one) => one !== undefined && one !== region);
  const memory = /from memory/.test(source) ? ', written from memory and not read from AWS' : '';
  const china = others.some((one) => one?.startsWith('cn-')) ? ', in China in CNY' : '';
  const elsewhere =
    others.length > 0 ? `; stacks in ${others.join(', ')} have other prices${china}` : '';
  return `${asOf}${memory}, ${region}${elsewhere}`;
}

/** What a spot instance costs of the price on demand: assumed, as it changes by the hour. */
export const SPOT_SHARE = 0.4;

/** Price of an instance's hour. @throws CommandError PRICE_UNKNOWN */
export function instanceHour({ instanceHour: known, asOf }: Prices, instanceType: string): number {
  const price = known[instanceType];
  if (price !== undefined) return price;
  throw new CommandError(
    'PRICE_UNKNOWN',
    `the price file of ${asOf} has no ${instanceType}. Add it there, name another file with --prices, use --live-prices, or choose one that it has: ${Object.keys(known).join(', ')}.`,
  );
}

/** @throws CommandError PRICE_UNKNOWN, always: the price file has no such entry */
export function missingPrice(entry: string): never {
  throw new CommandError(
    'PRICE_UNKNOWN',
    `the price file has no ${entry}. Add it there, or name another file with --prices.`,
  );
}
