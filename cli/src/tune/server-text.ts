/** Settings of a server in words. */
import type { Point, ServerSettings } from './point.ts';

/** `batches of 8, 4 threads`; `as it is` for a server that cannot be changed from here. */
export function serverText(server: ServerSettings | undefined): string {
  if (!server) return 'as it is';
  const batching = server.maxBatchSize > 0 ? `batches of ${server.maxBatchSize}` : 'no batching';
  return server.decodeThreads > 0 ? `${batching}, ${server.decodeThreads} threads` : batching;
}

/** The name of the curve that a point lies on: all that it shares with points of another load. */
export function curveText({ where, server, batchSize }: Point): string {
  return `${where}, ${serverText(server)}, ${batchSize} a request`;
}
