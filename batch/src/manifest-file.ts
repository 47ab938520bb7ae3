/**
 * SageMaker's manifest: `[{"prefix": "s3://bucket/prefix/"}, "key below it", ...]`.
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_S3DataSource.html
 */
import * as z from 'zod';
import { BatchError } from './errors.ts';

/** A list of inputs below one prefix. */
export interface InputList {
  /** S3 URI that ends in `/`. */
  readonly prefix: string;
  /** Without repetitions, in the manifest's order. */
  readonly keys: readonly string[];
  /** Keys that the manifest names more than once; each is one input. */
  readonly duplicates: readonly string[];
}

const schema = z.tuple([z.strictObject({ prefix: z.string() })], z.string().min(1));

/**
 * Reads a manifest.
 * @param source where it came from, for the message
 * @throws BatchError MANIFEST_INVALID
 */
export function parseManifest(text: string, source: string): InputList {
  const [{ prefix }, ...listed] = parse(text, source);
  const keys = new Set<string>();
  const duplicates = new Set<string>();
  for (const key of listed) (keys.has(key) ? duplicates : keys).add(key);
  return { prefix, keys: [...keys], duplicates: [...duplicates] };
}

function parse(text: string, source: string): z.output<typeof schema> {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new BatchError(
      'MANIFEST_INVALID',
      `${source} is not a manifest. Write [{"prefix": "s3://BUCKET/PREFIX/"}, "KEY", ...].`,
      { cause: cause instanceof z.ZodError ? new Error(z.prettifyError(cause)) : cause },
    );
  }
}

/** The JSON of a manifest, one key a line. */
export function formatManifest(prefix: string, keys: readonly string[]): string {
  const lines = [JSON.stringify({ prefix }), ...keys.map((key) => JSON.stringify(key))];
  return `[\n${lines.join(',\n')}\n]\n`;
}
