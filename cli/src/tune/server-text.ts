/** Settings of a server in words. */
import type { ServerSettings } from './point.ts';

/** `batches of 8, 4 threads`; `as it is` for a server that cannot be changed from here. */
export function serverText(server: ServerSettings | undefined): string {
  if (!server) return 'as it is';
  const batching = server.maxBatchSize > 0 ? `batches of ${server.maxBatchSize}` : 'no batching';
  return server.decodeThreads > 0 ? `${batching}, ${server.decodeThreads} threads` : batching;
}
