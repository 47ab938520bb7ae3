/** vCPUs of EC2 that an account may have: the limit of workers, for which AWS Batch waits without end. */
import type { ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import type { WorkerFleet } from './assembly.ts';
import type { AccountFinding } from './finding.ts';
import { quotaLimits } from './quota-limits.ts';

/** Quotas for one or several families. Others (X, Inf, Trn) have no GPU or no TensorFlow image. */
interface Quota {
  readonly families: RegExp;
  readonly name: string;
  readonly spot: string;
  readonly onDemand: string;
}

/**
 * Codes of Service Quotas, which stay when names change.
 * @see https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-spot-limits.html
 * @see https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-on-demand-instances.html
 */
const QUOTAS: readonly Quota[] = [
  { families: /^(?:gr?|vt)\d/, name: 'G and VT', spot: 'L-3819A6DF', onDemand: 'L-DB2E81BA' },
  { families: /^p[2-4]/, name: 'P', spot: 'L-7212CCBC', onDemand: 'L-417A185B' },
  {
    families: /^(?:[acdhimrtz]|im|is)\d/,
    name: 'Standard',
    spot: 'L-34B43A08',
    onDemand: 'L-1216C47A',
  },
];

/** Compares the quotas with what workers take, all at once. Of several queues the largest counts. */
export async function checkWorkerQuotas(
  client: ServiceQuotasClient,
  fleets: readonly WorkerFleet[],
): Promise<AccountFinding[]> {
  if (fleets.length === 0) return [];
  const limits = await quotaLimits(client, 'ec2', 'QuotaCode');
  return [true, false].flatMap((spot) =>
    QUOTAS.flatMap((quota) => {
      const own = fleets.filter(
        (fleet) => fleet.spot === spot && fleet.types.some((type) => quota.families.test(type)),
      );
      const limit = limits.get(spot ? quota.spot : quota.onDemand) ?? 0;
      return own.length === 0 ? [] : [findingOf(quota, spot, own, limit)];
    }),
  );
}

function findingOf(
  { name, spot: spotCode, onDemand, families }: Quota,
  spot: boolean,
  fleets: readonly WorkerFleet[],
  limit: number,
): AccountFinding {
  const needed = Math.max(...fleets.map(({ vcpus }) => vcpus));
  const code = spot ? spotCode : onDemand;
  const what = `EC2 ${spot ? 'spot' : 'on-demand'} ${name} vCPUs (${code})`;
  const detail = `${limit}, and ${needed} for all workers at once`;
  if (limit >= needed) return { what, ok: true, detail };
  const advice = `ask Service Quotas for ${needed}`;
  const least = Math.max(...fleets.map((fleet) => fleet.least));
  if (limit >= least)
    return { what, ok: true, detail: `${detail}: fewer run at a time; ${advice}` };
  const others = fleets.every(({ types }) => types.some((type) => !families.test(type)));
  return others
    ? { what, ok: true, detail: `${detail}: types of other families are started` }
    : { what, ok: false, detail: `${detail}: none starts; ${advice}` };
}
