/** What the keys that `batch fetch` shows are below, for a manifest of some of them. */
import type { S3Client } from '@aws-sdk/client-s3';
import {
  asDirectory,
  formatS3Uri,
  inputsOf,
  parseManifest,
  parseS3Uri,
} from '@sagemaker-tfs/batch';
import { openInputs, readFacts, readText } from '@sagemaker-tfs/batch/s3';
import type { TransformPlaces } from '../transform-places.ts';
import { readWorkerPlan } from '../worker-keys.ts';

/** Outputs, and where their inputs are if it is known. */
export type FetchPlaces = Pick<TransformPlaces, 'outputUri'> & {
  readonly inputUri?: string | undefined;
  readonly dataType?: TransformPlaces['dataType'];
  /** Media type of the outputs. */
  readonly accept?: string | undefined;
};

/**
 * The S3 URI of the folder of the inputs.
 * @param places of a job; without an input, the output must be a worker's
 * @returns undefined if the place of the inputs is not known
 * @throws BatchError MANIFEST_INVALID, FACTS_INVALID, WORKER_FILE_INVALID
 */
export async function inputPrefix(
  s3: S3Client,
  { inputUri, outputUri, dataType }: FetchPlaces,
): Promise<string | undefined> {
  const plan = await readWorkerPlan(s3, outputUri);
  if (plan) return (await openInputs(s3, { ...plan, inventoryUri: undefined, outputUri })).prefix;
  if (inputUri === undefined) return undefined;
  const { prefix } =
    dataType === 'ManifestFile'
      ? await parseManifest(await readText(s3, parseS3Uri(inputUri)), inputUri)
      : inputsOf({ inputUri, outputUri });
  const { layout } = await readFacts(s3, asDirectory(parseS3Uri(outputUri)));
  return layout === 'wholeKey' ? formatS3Uri({ ...parseS3Uri(prefix), key: '' }) : prefix;
}
