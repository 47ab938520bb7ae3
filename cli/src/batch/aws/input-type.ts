/** The media type of a job's inputs on S3, by the names of the first of them. */
import type { S3Client } from '@aws-sdk/client-s3';
import { formatS3Uri, inputsOf, parseS3Uri, streamManifest } from '@sagemaker-tfs/batch';
import { listObjects, openObject } from '@sagemaker-tfs/batch/s3';
import { noInput } from '../../errors.ts';
import { typeOfInputs } from '../local/input-type.ts';
import type { StartOptions } from './start.ts';

/** Names that are read: one page of a listing. */
const SEEN = 1_000;

/** What decides. */
interface TypedInputs
  extends Pick<
    StartOptions,
    'inputUri' | 'outputUri' | 'dataType' | 'splitType' | 'batchStrategy'
  > {
  readonly keySuffix?: string | undefined;
}

/**
 * The type that the endings of the first names tell.
 * @throws CommandError INPUT_EMPTY
 * @throws CommandError USAGE if one tells none, two differ, or records are sent without their framing
 * @throws BatchError MANIFEST_INVALID
 */
export async function typeOfPlaces(s3: S3Client, inputs: TypedInputs): Promise<string> {
  const type = await typeOfInputs({ list: () => firstKeys(s3, inputs) }, inputs);
  if (type !== '') return type;
  throw noInput(inputs.inputUri);
}

async function* firstKeys(
  s3: S3Client,
  inputs: TypedInputs,
): AsyncGenerator<{ readonly key: string }> {
  const { keySuffix = '' } = inputs;
  let seen = 0;
  const keys = inputs.dataType === 'ManifestFile' ? namedKeys(s3, inputs) : listedKeys(s3, inputs);
  for await (const key of keys) {
    if (key.endsWith(keySuffix)) yield { key };
    if (++seen === SEEN) return;
  }
}

async function* listedKeys(
  s3: S3Client,
  { inputUri, outputUri }: TypedInputs,
): AsyncGenerator<string> {
  const inputs = inputsOf({ inputUri, outputUri });
  for await (const { key } of listObjects(s3, inputs)) if (inputs.isInput(key)) yield key;
}

async function* namedKeys(s3: S3Client, { inputUri }: TypedInputs): AsyncGenerator<string> {
  const manifest = parseS3Uri(inputUri);
  const body = await openObject(s3, manifest);
  try {
    for await (const page of (await streamManifest(body, formatS3Uri(manifest))).pages) yield* page;
  } finally {
    body.destroy();
  }
}
