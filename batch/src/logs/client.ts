/** A client of CloudWatch Logs whose calls are repeated while they are throttled. */
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { patientRetries } from '../s3/patient-retries.ts';

/** @param region default: the environment's */
export function jobLogs(region?: string): CloudWatchLogsClient {
  // All shards of a run that end at the same time share ten calls a second.
  return new CloudWatchLogsClient({ retryStrategy: patientRetries(), ...(region && { region }) });
}
