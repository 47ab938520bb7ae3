/** Bounds of connections to S3, for many calls at once. */
import type { S3ClientConfig } from '@aws-sdk/client-s3';

/** Milliseconds. */
const CONNECT_WITHIN = 5_000;
const SILENT_FOR = 60_000;

/**
 * Settings of the AWS SDK's HTTP handler. A connection on which nothing moves for a while, before or within an answer, is
 * closed with `TimeoutError`: the SDK's `requestTimeout` only warns.
 */
export function boundedConnections(
  maxSockets: number,
  silentFor = SILENT_FOR,
): Extract<S3ClientConfig['requestHandler'], { socketTimeout?: unknown }> {
  const agent = { maxSockets, keepAlive: true };
  return {
    connectionTimeout: CONNECT_WITHIN,
    socketTimeout: silentFor,
    socketAcquisitionWarningTimeout: SILENT_FOR,
    httpAgent: agent,
    httpsAgent: agent,
  };
}
