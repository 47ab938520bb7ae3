/** What made the outputs of a transform job: read and written as the state machine does. */
import { DeleteObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import {
  DEFAULT_SETTINGS,
  type DecisiveSettings,
  type Existing,
  formatS3Uri,
  inputsOf,
  MIXED,
  type Origin,
  originOf,
  parseS3Uri,
  streamManifest,
} from '@sagemaker-tfs/batch';
import {
  claimOrigin,
  openObject,
  originPlace,
  readOrigin,
  writeOrigin,
} from '@sagemaker-tfs/batch/s3';
import { CLOCKS } from './clocks.ts';
import type { TransformJob } from './described-job.ts';
import type { TransformPlaces } from './transform-places.ts';

/** The outputs as a job's own. */
interface Claim {
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
  const place = originPlace(job.outputUri, root);
  const own = ownOrigin(job.modelName, root, job);
  const { since, before, isNew } = await claimOrigin(s3, place, own, existing);
  return {
    since,
    async undo() {
      if (!isNew) return;
      const { bucket: Bucket, key: Key } = place;
      if (before?.origin) await writeOrigin(s3, place, { ...before.origin, since: before.since });
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
  const there = await readOrigin(s3, originPlace(job.outputUri, root));
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
