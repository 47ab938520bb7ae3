/** What made the outputs of a transform job: read and written as the state machine does. */
import { DeleteObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import {
  asDirectory,
  DEFAULT_SETTINGS,
  type DecisiveSettings,
  type Existing,
  formatS3Uri,
  inputsOf,
  MIXED,
  nextOrigin,
  type Origin,
  originKey,
  originOf,
  parseOrigin,
  parseS3Uri,
  type S3Location,
  streamManifest,
} from '@sagemaker-tfs/batch';
import { findObject, openObject, readText } from '@sagemaker-tfs/batch/s3';
import { CLOCKS } from './clocks.ts';
import type { TransformJob } from './described-job.ts';
import type { TransformPlaces } from './transform-places.ts';

/** The outputs as a job's own. */
export interface Claim {
  /** Outputs of this model and these settings are not older, milliseconds since 1970 by S3's clock. */
  readonly since: number;
  /** Puts back what was there: for a job that SageMaker has refused. */
  undo(): Promise<void>;
}

/**
 * Writes down what makes the outputs from now on, unless it is what made them before.
 * @throws BatchError MANIFEST_INVALID
 */
export async function claimOutputs(
  s3: S3Client,
  job: TransformPlaces & DecisiveSettings & { readonly modelName: string },
  existing: Existing,
): Promise<Claim> {
  const root = await rootOf(s3, job);
  const place = originPlace(job, root);
  const there = await readOrigin(s3, place);
  const next = nextOrigin(there?.origin, ownOrigin(job.modelName, root, job), existing);
  if (!next) return { since: there?.since ?? 0, undo: async () => undefined };
  await writeOrigin(s3, place, next);
  return {
    since: (await readOrigin(s3, place))?.since ?? 0,
    async undo() {
      const { bucket: Bucket, key: Key } = place;
      if (there?.origin) await writeOrigin(s3, place, { ...there.origin, since: there.since });
      else await s3.send(new DeleteObjectCommand({ Bucket, Key }));
    },
  };
}

/**
 * The places of a job, with the time from which on its outputs count. Where nothing is written down, or a run with
 * `--existing skip` mixed them, all count.
 */
export async function placesSince(s3: S3Client, job: TransformJob): Promise<TransformPlaces> {
  if (!job.madeWith) return job;
  const root = await rootOf(s3, job);
  const there = await readOrigin(s3, originPlace(job, root));
  if (!there?.origin || there.origin.fingerprint === MIXED) return job;
  const { modelName, ...settings } = job.madeWith;
  if (there.origin.fingerprint === ownOrigin(modelName, root, settings).fingerprint) {
    return { ...job, existing: 'replace', since: there.since };
  }
  const began = job.createdAt.getTime();
  // After this job another one made them, or this one was started by something that writes nothing down.
  const since = there.since > began ? Number.POSITIVE_INFINITY : began - CLOCKS;
  return { ...job, existing: 'replace', since };
}

/** The state machine's settings have all their defaults. */
function ownOrigin(modelName: string, root: string, settings: DecisiveSettings): Origin {
  return originOf(modelName, root, { ...DEFAULT_SETTINGS, ...settings });
}

/** What keys of the inputs are relative to. */
async function rootOf(s3: S3Client, places: TransformPlaces): Promise<string> {
  if (places.dataType === 'S3Prefix') return inputsOf(places).prefix;
  const manifest = parseS3Uri(places.inputUri);
  const body = await openObject(s3, manifest);
  try {
    return (await streamManifest(body, formatS3Uri(manifest))).prefix;
  } finally {
    // The keys are not asked for.
    body.destroy();
  }
}

function originPlace({ outputUri }: TransformPlaces, root: string): S3Location {
  const { bucket, key } = asDirectory(parseS3Uri(outputUri));
  return { bucket, key: key + originKey(root) };
}

/** Undefined if nothing is written down. */
async function readOrigin(s3: S3Client, place: S3Location) {
  const object = await findObject(s3, place);
  if (!object) return undefined;
  const origin = parseOrigin(await readText(s3, place));
  return { origin, since: origin?.since ?? object.modified };
}

async function writeOrigin(
  s3: S3Client,
  { bucket, key }: S3Location,
  origin: Origin,
): Promise<void> {
  await s3.send(
    new PutObjectCommand({
      Bucket: bucket,
      Key: key,
      Body: Buffer.from(JSON.stringify(origin)),
      ContentType: 'application/json',
    }),
  );
}
