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
import { awsError } from './aws-error.ts';

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

/** Settings of clients that look at a job again and again, for hours: each call is tried for half a minute. */
export function forWatching(): AllSettings {
  return { retryStrategy: patientRetries() };
}

type AllSettings = Pick<S3ClientConfig, 'retryStrategy'>;

/**
 * Makes clients, runs `work` with them and closes them.
 * @param settings those of all clients, and further ones of the client of S3
 * @throws CommandError for what AWS answers
 */
export async function withAws<T>(
  region: string | undefined,
  work: (clients: AwsClients) => Promise<T>,
  { all = {}, s3 = {} }: { readonly all?: AllSettings; readonly s3?: S3ClientConfig } = {},
): Promise<T> {
  const where = { ...(region !== undefined && { region }), ...all };
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
