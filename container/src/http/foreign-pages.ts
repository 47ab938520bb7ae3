/** Refuses pages of other sites in a browser on this machine. */
import type { IncomingHttpHeaders } from 'node:http';
import { findForeignPage } from '@sagemaker-tfs/tensors/foreign-pages';
import { ServingError } from '../errors.ts';

export { isLoopbackName } from '@sagemaker-tfs/tensors/foreign-pages';

/**
 * @param boundTo the address that the server listens on
 * @returns HOST_REFUSED or CROSS_SITE_REFUSED; undefined for what may pass
 */
export function foreignPage(
  method: string,
  headers: IncomingHttpHeaders,
  boundTo: string,
): ServingError | undefined {
  const found = findForeignPage(method, headers, boundTo);
  if (!found) return undefined;
  const code = found.reason === 'host' ? 'HOST_REFUSED' : 'CROSS_SITE_REFUSED';
  return new ServingError(code, found.message);
}
