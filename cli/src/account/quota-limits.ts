/** Limits of an account in a region. */
import {
  paginateListAWSDefaultServiceQuotas,
  paginateListServiceQuotas,
  type ServiceQuotasClient,
} from '@aws-sdk/client-service-quotas';

/** Limits of a service by the name or the code of the quota. */
export async function quotaLimits(
  client: ServiceQuotasClient,
  ServiceCode: string,
  by: 'QuotaName' | 'QuotaCode',
): Promise<ReadonlyMap<string, number>> {
  const limits = new Map<string, number>();
  const pages = [
    // The service lists applied values only for quotas that have one; they count before the defaults.
    paginateListAWSDefaultServiceQuotas({ client }, { ServiceCode }),
    paginateListServiceQuotas({ client }, { ServiceCode }),
  ];
  for (const list of pages) {
    for await (const { Quotas = [] } of list) {
      for (const quota of Quotas) limits.set(quota[by] ?? '', quota.Value ?? 0);
    }
  }
  return limits;
}
