/** Whether a run of a state machine writes the outputs that a job would write. */
import { DescribeExecutionCommand } from '@aws-sdk/client-sfn';
import {
  asDirectory,
  parseRunLease,
  parseS3Uri,
  RUN_LEASE,
  RUNS_FOLDER,
} from '@sagemaker-tfs/batch';
import { readText } from '@sagemaker-tfs/batch/s3';
import { CommandError } from '../../errors.ts';
import type { AwsClients } from './clients.ts';

/**
 * Looks at the lease of the outputs. Who may read neither it nor the execution is not kept from starting a job.
 * @throws CommandError OUTPUTS_IN_USE if its holder runs
 */
export async function refuseOutputsInUse(
  { s3, sfn }: Pick<AwsClients, 's3' | 'sfn'>,
  outputUri: string,
): Promise<void> {
  const { bucket, key } = asDirectory(parseS3Uri(outputUri));
  const place = { bucket, key: `${key}${RUNS_FOLDER}${RUN_LEASE}` };
  const lease = parseRunLease(await readText(s3, place).catch(() => ''));
  if (!lease || lease.returned) return;
  const { execution } = lease;
  const found = await sfn
    .send(new DescribeExecutionCommand({ executionArn: execution, includedData: 'METADATA_ONLY' }))
    .catch(() => undefined);
  if (found?.status !== 'RUNNING' && found?.status !== 'PENDING_REDRIVE') return;
  throw new CommandError(
    'OUTPUTS_IN_USE',
    `a run of a state machine writes to ${outputUri}: ${execution}. Wait for its end, stop it with sagemaker-tfs batch stop, or give another --output-uri.`,
  );
}
