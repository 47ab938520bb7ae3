/**
 * SageMaker's manifest: `[{"prefix": "s3://bucket/prefix/"}, "key below it", ...]`.
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_S3DataSource.html
 */
import * as z from 'zod';

/** A list of inputs below one prefix. */
export interface InputList {
  /** S3 URI that ends in `/`. */
  readonly prefix: string;
  readonly keys: readonly string[];
}

const schema = z.tuple([z.object({ prefix: z.string() })], z.string());

/** @throws where the JSON is not a manifest */
export function parseManifest(json: unknown): InputList {
  const [{ prefix }, ...keys] = schema.parse(json);
  return { prefix, keys };
}

/** The JSON of a manifest. */
export function formatManifest({ prefix, keys }: InputList): unknown {
  return [{ prefix }, ...keys];
}
