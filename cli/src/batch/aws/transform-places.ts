/** Where the inputs and outputs of a transform job are, and the ways to go through them. */
import { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import {
  asDirectory,
  compareKeys,
  type Existing,
  formatS3Uri,
  inOutputOrder,
  inputOfOutput,
  inputsOf,
  outputKey,
  outputRoot,
  parseManifest,
  parseS3Uri,
  type S3Location,
  streamManifest,
  type TransformFacts,
} from '@sagemaker-tfs/batch';
import {
  findObjects,
  type KeyRange,
  keyRanges,
  LAST,
  listObjects,
  readBytes,
  readFacts,
  readText,
  type S3Object,
} from '@sagemaker-tfs/batch/s3';

/** What a job reads and writes. */
export interface TransformPlaces {
  /** S3 prefix, or S3 URI of a manifest. */
  readonly inputUri: string;
  readonly dataType: 'S3Prefix' | 'ManifestFile';
  readonly outputUri: string;
  /**
   * Shards of a state machine's run, whose manifests name the inputs; absent where the inputs are all that is
   * below the prefix, or in the manifest.
   */
  readonly shards?: S3Location;
  /** Which outputs count. Default: `skip`, all. */
  readonly existing?: Existing;
  /** As in `countsAsDone`. Default: 0. */
  readonly since?: number;
}

/** An input of a job. */
export interface JobInput {
  readonly key: string;
  /** Milliseconds since 1970; 0 for the keys of a manifest, which has no times. */
  readonly modified: number;
}

/** What became of an input, by the key of that input. */
export interface JobOutput extends S3Object {
  /** Instead of an output: a worker found the input deleted when it came to it. */
  readonly isGone?: true;
}

/** A part of a job's inputs with the outputs that belong to them; keys are below {@link TransformKeys.root}. */
export interface KeyPart {
  /** Sorted. */
  inputs(): AsyncIterable<JobInput>;
  /** Outputs by the key of their input, sorted as the outputs are. */
  outputs(): AsyncIterable<JobOutput>;
}

/** A job's inputs and outputs. */
export interface TransformKeys {
  /** What a manifest of these keys has as its prefix. */
  readonly root: string;
  /** Outputs lie below it, under the keys of their inputs. */
  readonly outputs: S3Location;
  /** Parts that together hold everything once. */
  readonly parts: readonly KeyPart[];
  /** Outputs that are in no part; undefined if other jobs' outputs are expected beside those of the job. */
  readonly outside?: readonly (() => AsyncIterable<S3Object>)[];
  /** True where an object stays among the inputs after it is deleted, as those of an inventory do. */
  readonly listsDeleted?: boolean;
  /** Of the inputs that have been read: those with an error instead of an answer, by its code. */
  readonly failures?: ReadonlyMap<string, number>;
}

/** Listings at once. */
export const LISTINGS = 16;

/** Opens a job's keys. @throws BatchError MANIFEST_INVALID, FACTS_INVALID */
export async function openKeys(s3: S3Client, places: TransformPlaces): Promise<TransformKeys> {
  const output = asDirectory(parseS3Uri(places.outputUri));
  const facts = await readFacts(s3, output);
  if (places.shards) return shardKeys(s3, places.shards, output, facts);
  return places.dataType === 'ManifestFile'
    ? manifestKeys(s3, parseS3Uri(places.inputUri), output, facts)
    : prefixKeys(s3, places, output, facts);
}

async function manifestKeys(
  s3: S3Client,
  manifest: S3Location,
  output: S3Location,
  facts: TransformFacts,
) {
  const { prefix, keys } = await parseManifest(await readText(s3, manifest), formatS3Uri(manifest));
  const sorted = [...keys].sort(compareKeys);
  const outputs = outputRoot(output, parseS3Uri(prefix), facts);
  const part: KeyPart = {
    async *inputs() {
      for (const key of sorted) yield { key, modified: 0 };
    },
    outputs: () => outputsBelow(s3, outputs, ''),
  };
  return { root: prefix, outputs, parts: [part] };
}

/** Keys that are looked for at once. */
const GROUP = 10_000;

/** A part is a shard: its manifest is sorted, and the shards are in no order. */
async function shardKeys(
  s3: S3Client,
  shards: S3Location,
  output: S3Location,
  facts: TransformFacts,
) {
  const { bucket } = shards;
  const names: string[] = [];
  for await (const { key } of listObjects(s3, shards)) names.push(key);
  const open = async (key: string) => {
    const place = { bucket, key };
    // Whole, since a stream that waits for listings would be cut off.
    return streamManifest(Readable.from([await readBytes(s3, place)]), formatS3Uri(place));
  };
  const [first] = names;
  if (first === undefined) return { root: '', outputs: output, parts: [] };
  const { prefix } = await open(first);
  const outputs = outputRoot(output, parseS3Uri(prefix), facts);
  const part = (name: string): KeyPart => {
    async function* inputs() {
      const { pages } = await open(name);
      for await (const keys of pages) for (const key of keys) yield { key, modified: 0 };
    }
    return { inputs, outputs: () => outputsOf(s3, outputs, inOutputOrder(inputs())) };
  };
  return { root: prefix, outputs, parts: names.map(part) };
}

/** The outputs of inputs, in their order. */
async function* outputsOf(
  s3: S3Client,
  outputs: S3Location,
  inputs: AsyncIterable<JobInput>,
): AsyncGenerator<S3Object> {
  const look = async (keys: readonly string[]) => {
    const found = await findObjects(s3, outputs, keys.map(outputKey));
    return keys.flatMap((key) => {
      const object = found.get(outputKey(key));
      return object ? [{ ...object, key }] : [];
    });
  };
  let group: string[] = [];
  for await (const { key } of inputs) {
    group.push(key);
    if (group.length < GROUP) continue;
    yield* await look(group);
    group = [];
  }
  yield* await look(group);
}

async function prefixKeys(
  s3: S3Client,
  places: TransformPlaces,
  output: S3Location,
  facts: TransformFacts,
) {
  const input = inputsOf(places);
  const { root } = input;
  const below = outputRoot(output, { bucket: input.bucket, key: root }, facts);
  const part = ({ prefix, first }: KeyRange): KeyPart => ({
    async *inputs() {
      const named = (object: S3Object) => ({ ...object, key: object.key.slice(root.length) });
      if (first !== undefined) yield named(first);
      for await (const object of listObjects(s3, { bucket: input.bucket, key: prefix })) {
        if (input.isInput(object.key)) yield named(object);
      }
    },
    outputs: () => outputsBelow(s3, below, prefix.slice(root.length)),
  });
  const ranges = await keyRanges(s3, input, LISTINGS);
  const starts = ranges.map(({ prefix }) => prefix.slice(root.length)).sort(compareKeys);
  const outside = gaps(starts).map(
    (gap) => () => outputsBetween(s3, below, input.key.slice(root.length), gap),
  );
  return { root: input.prefix, outputs: below, parts: ranges.map(part), outside };
}

/** Everything that lies below a place of outputs, in ranges that are listed at the same time. */
export async function outputRanges(
  s3: S3Client,
  outputs: S3Location,
): Promise<(() => AsyncIterable<S3Object>)[]> {
  const ranges = await keyRanges(s3, outputs, LISTINGS);
  return ranges.map(
    ({ prefix, first }) =>
      async function* () {
        const own = first && inputOfOutput(first.key.slice(outputs.key.length));
        if (first && own !== undefined) yield { ...first, key: own };
        yield* outputsBelow(s3, outputs, prefix.slice(outputs.key.length));
      },
  );
}

/** Names after all that start with one prefix, and before all that start with the next. */
interface Gap {
  readonly after?: string;
  readonly before?: string;
}

function gaps(sorted: readonly string[]): Gap[] {
  return Array.from({ length: sorted.length + 1 }, (_, at) => {
    const [last, next] = [sorted[at - 1], sorted[at]];
    return {
      ...(last !== undefined && { after: last + LAST }),
      ...(next !== undefined && { before: next }),
    };
  });
}

async function* outputsBetween(
  s3: S3Client,
  output: S3Location,
  start: string,
  { after, before }: Gap,
): AsyncGenerator<S3Object> {
  for await (const object of outputsBelow(s3, output, start, after)) {
    if (before !== undefined && compareKeys(outputKey(object.key), before) >= 0) return;
    yield object;
  }
}

/** Outputs whose input's key starts so, or is that without the start of the suffix. */
async function* outputsBelow(
  s3: S3Client,
  output: S3Location,
  start: string,
  after?: string,
): AsyncGenerator<S3Object> {
  const startAfter = after === undefined ? undefined : output.key + after;
  for await (const object of listObjects(s3, { ...output, key: output.key + start }, startAfter)) {
    const input = inputOfOutput(object.key.slice(output.key.length));
    if (input !== undefined) yield { ...object, key: input };
  }
}
