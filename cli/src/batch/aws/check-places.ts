/** Refuses, before AWS is asked for instances, places over which a job would work for nothing. */
import type { S3Client } from '@aws-sdk/client-s3';
import { asDirectory, BatchError, parseS3Uri, workerFingerprint } from '@sagemaker-tfs/batch';
import { listPage, openInputs } from '@sagemaker-tfs/batch/s3';
import { noInput, usageError } from '../../errors.ts';
import type { TransformPlaces } from './transform-places.ts';
import { readWorkerPlan } from './worker-keys.ts';

interface Places extends Pick<TransformPlaces, 'inputUri' | 'outputUri' | 'dataType'> {
  readonly keySuffix?: string | undefined;
}

/**
 * What a job writes into its input prefix would be inputs of the next one.
 * @throws CommandError USAGE
 */
export function refuseOutputsAmongInputs(places: Places): void {
  const { inputUri, outputUri, dataType, keySuffix } = places;
  if (dataType === 'ManifestFile' || keySuffix) return;
  const [from, to] = [parseS3Uri(inputUri), asDirectory(parseS3Uri(outputUri))];
  const isBelow = asDirectory(from).key === to.key || to.key.startsWith(from.key);
  if (from.bucket !== to.bucket || !isBelow) return;
  throw usageError(
    `--output-uri ${outputUri} lies in --input-uri ${inputUri}, so a later job would take what is written there for inputs. Give an output prefix elsewhere.`,
  );
}

/**
 * Refuses places of workers without an input, or with answers that theirs cannot stand beside.
 * @throws CommandError INPUT_EMPTY; BatchError OTHER_RUN
 */
export async function checkWorkerPlaces(
  s3: S3Client,
  job: Places & { readonly contentType: string; readonly accept: string },
): Promise<void> {
  const { inputUri, outputUri, keySuffix = '' } = job;
  const { objects } = await listPage(s3, parseS3Uri(inputUri), { maxKeys: 1 });
  if (objects.length === 0) throw noInput(inputUri);
  const plan = await readWorkerPlan(s3, outputUri);
  if (!plan) return;
  const inputs = await openInputs(s3, { inputUri, outputUri, keySuffix });
  // Only a worker knows the digest of its model.
  if (workerFingerprint(inputs, job, plan.model) === plan.fingerprint) return;
  throw new BatchError(
    'OTHER_RUN',
    `${outputUri} has answers of other inputs or of other settings. Choose another output prefix.`,
  );
}
