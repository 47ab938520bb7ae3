/** Where a run keeps its files, below the output prefix. */
import {
  asDirectory,
  PLANNED_FOLDER,
  parseS3Uri,
  REPORTS_FOLDER,
  RUNS_FOLDER,
  type S3Location,
} from '@sagemaker-tfs/batch';
import type { TransformSettings } from '@sagemaker-tfs/batch/settings';

type RunSettings = Pick<TransformSettings, 'outputUri' | 'runId'>;

/** The outputs. */
export function outputDirectory({ outputUri }: Pick<TransformSettings, 'outputUri'>): S3Location {
  return asDirectory(parseS3Uri(outputUri));
}

/** A file or folder beside those of all runs. */
export function sharedPlace(settings: Pick<TransformSettings, 'outputUri'>, name: string) {
  const { bucket, key } = outputDirectory(settings);
  return { bucket, key: `${key}${RUNS_FOLDER}${name}` };
}

/** A file or folder of one run. */
export function runPlace(settings: RunSettings, name = ''): S3Location {
  return sharedPlace(settings, `${settings.runId}/${name}`);
}

/** Where the planned manifests are. */
export function shardsDirectory(settings: RunSettings): S3Location {
  return runPlace(settings, PLANNED_FOLDER);
}

/** Reports of a run's shards. */
export function reportsDirectory(settings: RunSettings): S3Location {
  return runPlace(settings, REPORTS_FOLDER);
}

/** Name of a shard, without the ending of its files; sorts as its number. */
function shardName(number: number): string {
  return String(number).padStart(6, '0');
}

/** Name of the list of a shard's inputs. */
export function manifestName(number: number): string {
  return `${shardName(number)}.manifest`;
}

/** The shard's name in the key of its manifest. */
export function shardOf(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1).replace('.manifest', '');
}

/** That of the small first shard, which runs before the others. */
export const CANARY_MANIFEST = manifestName(0);
