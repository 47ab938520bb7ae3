/**
 * SageMaker's manifest: `[{"prefix": "s3://bucket/prefix/"}, "key below it", ...]`.
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_S3DataSource.html
 */
import { streamManifest } from './manifest-stream.ts';

/** A list of inputs below one prefix. */
interface InputList {
  /** S3 URI that ends in `/`. */
  readonly prefix: string;
  /** Without repetitions, in the manifest's order. */
  readonly keys: readonly string[];
  /** Keys that the manifest names more than once; each is one input. */
  readonly duplicates: readonly string[];
}

/**
 * Reads a whole manifest.
 * @param source where it came from, for the message
 * @throws BatchError MANIFEST_INVALID
 */
export async function parseManifest(text: string, source: string): Promise<InputList> {
  async function* chunks() {
    yield Buffer.from(text);
  }
  const { prefix, pages } = await streamManifest(chunks(), source);
  const keys = new Set<string>();
  const duplicates = new Set<string>();
  for await (const page of pages) {
    for (const key of page) (keys.has(key) ? duplicates : keys).add(key);
  }
  return { prefix, keys: [...keys], duplicates: [...duplicates] };
}

/** Whether inputs are named by a manifest, by the ending of its name, and are not all that is below a prefix. */
export function isManifest(inputUri: string): boolean {
  return inputUri.endsWith('.manifest');
}

/** The JSON of a manifest, one key a line. */
export function formatManifest(prefix: string, keys: readonly string[]): string {
  return manifestOfLines(
    prefix,
    keys.map((key) => JSON.stringify(key)),
  );
}

/** The same of keys that are JSON already. */
export function manifestOfLines(prefix: string, lines: readonly string[]): string {
  return `[\n${[JSON.stringify({ prefix }), ...lines].join(',\n')}\n]\n`;
}
