/** Which objects below a prefix are a run's inputs. */
import { asDirectory, formatS3Uri, parseS3Uri } from './s3-uri.ts';

/** What decides it. */
export interface InputPlaces {
  /** S3 prefix of the inputs. */
  readonly inputUri: string;
  /** S3 prefix of the outputs; what lies below it is no input. */
  readonly outputUri: string;
  /** End of the keys that are taken. Default: all. */
  readonly keySuffix?: string;
}

/** The inputs below a prefix. */
export interface Inputs {
  readonly bucket: string;
  /** Keys of inputs start so. */
  readonly key: string;
  /** What a manifest of these inputs has as its prefix: a prefix may end inside a name, so it ends at the last `/`. */
  readonly prefix: string;
  /** Part of the key that {@link prefix} names. */
  readonly root: string;
  /** True for the whole key of an input. */
  isInput(key: string): boolean;
}

/** @throws BatchError S3_URI_INVALID */
export function inputsOf({ inputUri, outputUri, keySuffix = '' }: InputPlaces): Inputs {
  const { bucket, key } = parseS3Uri(inputUri);
  const root = key.slice(0, key.lastIndexOf('/') + 1);
  const output = asDirectory(parseS3Uri(outputUri));
  const holdsOutputs = output.bucket === bucket && output.key.startsWith(key);
  return {
    bucket,
    key,
    root,
    prefix: formatS3Uri({ bucket, key: root }),
    isInput: (name) =>
      name.startsWith(key) &&
      name.endsWith(keySuffix) &&
      // Keys that end in / are folders of the console, not objects to transform.
      !name.endsWith('/') &&
      !(holdsOutputs && name.startsWith(output.key)),
  };
}
