/** Reads the logs of transform jobs, for programs that have the AWS SDK. */

export { jobLogs } from './client.ts';
export { type JobLog, readJobLog } from './job-log.ts';
