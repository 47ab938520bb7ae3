import type { ApiPrice, VariantWeek } from '../estimate/week.ts';
import { printResult, table } from '../output/print.ts';
import { usd as dollars } from '../output/usd.ts';

/** `estimate --app`: what the endpoints of a synthesized app cost in the coming week. */
export async function estimateWeek(
  app: string,
  { prices: file, json }: { readonly prices?: string; readonly json?: true },
): Promise<void> {
  const { readAssembly } = await import('../account/assembly.ts');
  const { originOf, readPrices } = await import('../estimate/prices.ts');
  const { apisOf, weekOf } = await import('../estimate/week.ts');
  const prices = await readPrices(file);
  const from = nextMidnight(new Date());
  const stacks = await readAssembly(app);
  const variants = weekOf(stacks, prices, from);
  const apis = apisOf(stacks, prices);
  const origin = originOf(
    prices,
    stacks.map(({ region }) => region),
  );
  printResult(json, { from: from.toISOString(), prices: origin, variants, apis }, () =>
    [describe(variants, origin, from), ...apis.map(describeApi)].join('\n'),
  );
}

function nextMidnight(now: Date): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1));
}

function describe(variants: readonly VariantWeek[], origin: string, from: Date): string {
  const range = (values: readonly number[], write: (value: number) => string) =>
    [...new Set(values.map((value) => write(value)))].join(' to ');
  const rows = variants.map(({ stack, variant, instanceType, hours, usd, note }) => [
    stack,
    variant,
    instanceType ?? '-',
    range(hours, (value) => value.toFixed(0)),
    usd ? range(usd, dollars) : '-',
    note ?? '',
  ]);
  const known = variants.flatMap(({ usd }) => (usd ? [usd] : []));
  const whole =
    known.length === variants.length ? 'In all' : 'In all, without what has no price here';
  const sum = (end: 0 | 1) => known.reduce((total, usd) => total + usd[end], 0);
  return [
    table(['stack', 'variant', 'type', 'instance hours', 'a week', 'note'], rows),
    `${whole}: ${range([sum(0), sum(1)], dollars)} for the week from ${from.toISOString().slice(0, 10)} (UTC), with the fewest and the most instances that scaling and its schedule allow.`,
    `Prices of ${origin}. Requests, data, storage and logs come on top.`,
  ].join('\n');
}

function describeApi({ stack, usdPerMillionCalls, checksTokens }: ApiPrice): string {
  const price =
    usdPerMillionCalls === undefined
      ? 'the price file has no price of its calls'
      : `${dollars(usdPerMillionCalls)} for a million calls`;
  const more = checksTokens ? ', and the function that checks tokens' : '';
  return `API of ${stack}: ${price}${more}; answers that leave AWS come on top.`;
}
