/** Reads what `batch probe` has found out. */
import type { S3Client } from '@aws-sdk/client-s3';
import { ASSUMED_FACTS, FACTS_KEY, parseFacts, type TransformFacts } from '../facts.ts';
import { formatS3Uri, type S3Location } from '../s3-uri.ts';
import { findObject, readText } from './objects.ts';

/**
 * The facts beside outputs; what is assumed if no probe has run there.
 * @param output prefix that ends in `/`, or is empty
 * @throws BatchError FACTS_INVALID
 */
export async function readFacts(s3: S3Client, output: S3Location): Promise<TransformFacts> {
  const place = { ...output, key: output.key + FACTS_KEY };
  if (!(await findObject(s3, place))) return ASSUMED_FACTS;
  return parseFacts(await readText(s3, place), formatS3Uri(place));
}
