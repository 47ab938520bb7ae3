/** A few of many inputs, chosen at random, for a run that shows what the whole would do. */
import { randomInt } from 'node:crypto';
import { Readable } from 'node:stream';
import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { compareKeys, formatManifest, formatS3Uri, parseS3Uri } from '@sagemaker-tfs/batch';
import { openInputs, type WorkerInputs } from '@sagemaker-tfs/batch/s3';
import { CommandError, usageError } from '../../errors.ts';
import { LISTINGS } from './transform-places.ts';

/** Which inputs, how many, and where the manifest goes. */
interface SampleOptions {
  readonly inputUri: string;
  readonly keySuffix?: string | undefined;
  readonly count: number;
  /** S3 URI of the manifest. */
  readonly manifestUri: string;
}

/** What was chosen. */
interface SampleReport {
  readonly inputs: number;
  readonly manifest: string;
}

/** Ranges that inputs are taken from, and how many keys of each are seen: one page of a listing. */
const RANGES = 64;
const SEEN = 1_000;

/**
 * Writes a manifest of inputs at random. They come from the first thousand keys of up to 64 ranges, so that 120 million inputs
 * need about a hundred listings; keys that no range begins with are not among them.
 * @throws CommandError INPUT_EMPTY, USAGE
 */
export async function sampleInputs(s3: S3Client, options: SampleOptions): Promise<SampleReport> {
  const { inputUri, keySuffix = '', count, manifestUri } = options;
  const manifest = parseS3Uri(manifestUri);
  refuseItself(inputUri, manifestUri);
  // What lies beside the manifest, such as manifests of earlier samples, is no input.
  const outputUri = manifestUri.slice(0, manifestUri.lastIndexOf('/') + 1);
  const inputs = await openInputs(s3, { inputUri, outputUri, keySuffix });
  const starts = [undefined, ...(await inputs.cuts(RANGES))];
  const seen = await Readable.from(starts.map((after) => ({ after })))
    .map(({ after }: { after: string | undefined }) => firstKeys(inputs, after), {
      concurrency: LISTINGS,
    })
    .toArray();
  const chosen = chooseEvenly(seen as string[][], count);
  if (chosen.length === 0) throw await withoutInputs(s3, options);
  const { root, prefix } = inputs;
  const keys = chosen.sort(compareKeys).map((key) => key.slice(root.length));
  await s3.send(
    new PutObjectCommand({
      Bucket: manifest.bucket,
      Key: manifest.key,
      ContentType: 'application/json',
      Body: formatManifest(prefix, keys),
    }),
  );
  return { inputs: keys.length, manifest: manifestUri };
}

/** The manifest of a full run is not replaced by that of its sample. */
function refuseItself(inputUri: string, manifestUri: string): void {
  if (formatS3Uri(parseS3Uri(inputUri)) !== formatS3Uri(parseS3Uri(manifestUri))) return;
  throw usageError(
    `--out ${manifestUri} is the manifest of the inputs, which the sample would replace. Give --out another name.`,
  );
}

/** Why there are none: what lies beside the manifest is left out, or nothing is there. */
async function withoutInputs(
  s3: S3Client,
  { inputUri, keySuffix = '', manifestUri }: SampleOptions,
): Promise<CommandError> {
  // Nothing lies below the manifest: this leaves nothing out.
  const all = await openInputs(s3, { inputUri, outputUri: manifestUri, keySuffix });
  for await (const _ of all.objects(undefined)) {
    return usageError(
      `--out ${manifestUri} lies beside the inputs of ${inputUri}, and what lies there is no input. Give --out another folder.`,
    );
  }
  const end = keySuffix && ` that end in ${keySuffix}`;
  const check = keySuffix ? 'the prefix and --key-suffix' : 'the prefix';
  return new CommandError('INPUT_EMPTY', `${inputUri} holds no inputs${end}. Check ${check}.`);
}

async function firstKeys(inputs: WorkerInputs, after: string | undefined): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of inputs.objects(after)) if (keys.push(key) >= SEEN) break;
  return keys;
}

/** Keys of all ranges in turn, each taken at random from those that are left; none twice. */
export function chooseEvenly(ranges: readonly (readonly string[])[], count: number): string[] {
  const left = ranges.map((keys) => [...keys]);
  const chosen = new Set<string>();
  while (chosen.size < count && left.some((keys) => keys.length > 0)) {
    for (const keys of left) {
      if (keys.length === 0 || chosen.size >= count) continue;
      const [key] = keys.splice(randomInt(keys.length), 1);
      if (key !== undefined) chosen.add(key);
    }
  }
  return [...chosen];
}
