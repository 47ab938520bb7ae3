/** Clients of the AWS services; region, credentials and `AWS_ENDPOINT_URL` come from the environment. */

import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { SageMakerClient } from '@aws-sdk/client-sagemaker';
import { SFNClient } from '@aws-sdk/client-sfn';
import {
  boundedConnections,
  forcePathStyle,
  guarded,
  patientRetries,
} from '@sagemaker-tfs/batch/s3';
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import { CommandError, usageError } from '../../errors.ts';

/** What the batch verbs talk to. */
export interface AwsClients {
  readonly s3: S3Client;
  readonly sagemaker: SageMakerClient;
  readonly sfn: SFNClient;
}

/** A client of S3 for hundreds of reads at once. */
export function forManyReads(): S3ClientConfig {
  return { retryStrategy: patientRetries(), requestHandler: boundedConnections(256) };
}

/** Makes clients, runs `work` with them and closes them. @param s3 settings of the client of S3 @throws CommandError for what AWS answers */
export async function withAws<T>(
  region: string | undefined,
  work: (clients: AwsClients) => Promise<T>,
  s3: S3ClientConfig = {},
): Promise<T> {
  const where = region === undefined ? {} : { region };
  const clients = {
    s3: guarded(new S3Client({ ...where, forcePathStyle: forcePathStyle(), ...s3 })),
    sagemaker: new SageMakerClient(where),
    sfn: new SFNClient(where),
  };
  try {
    return await work(clients);
  } catch (error) {
    throw awsError(error);
  } finally {
    clients.s3.destroy();
    clients.sagemaker.destroy();
    clients.sfn.destroy();
  }
}

/** Whether the SDK found no region in the call, the environment or the profile. */
export function isRegionMissing(error: unknown): boolean {
  return error instanceof Error && error.message === 'Region is missing';
}

/** AWS's own words, with what to do where that is known. */
export function awsError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof CommandError) return error;
  if (isRegionMissing(error))
    return usageError('no AWS region is set. Give --region, or set AWS_REGION.');
  if (error.name === 'CredentialsProviderError') {
    return new CommandError(
      'AWS_CREDENTIALS',
      'no AWS credentials were found. Set AWS_PROFILE, or run aws sso login.',
      { cause: error },
    );
  }
  if (!('$metadata' in error)) return error;
  return new CommandError(
    'AWS_FAILED',
    `AWS answers ${error.name}: ${sentence(error.message)} Check names, region and permissions.`,
    {
      cause: error,
      details: { awsError: error.name },
    },
  );
}
