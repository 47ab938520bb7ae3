/** Samples as `package` and `verify` take them: a path, or JSON of a path and what is sent with it. */
import { fieldWords, wrongFields } from '@sagemaker-tfs/manifest';
import type { SampleSource } from '@sagemaker-tfs/model-packaging';
import * as z from 'zod';
import { usageError } from '../errors.ts';

const sampleSchema = z.strictObject({
  file: z.string().min(1),
  contentType: z.string().optional(),
  accept: z.string().optional(),
  customAttributes: z.string().optional(),
});

/** Values of `--sample`: what begins with `{` is JSON. @throws CommandError USAGE naming the value */
export function sampleSources(values: readonly string[] | undefined): SampleSource[] | undefined {
  return values?.map((text) => (text.startsWith('{') ? fromJson(text) : text));
}

function fromJson(text: string): SampleSource {
  const { data, error } = sampleSchema.safeParse(jsonOf(text), { error: fieldWords });
  if (data) {
    const given = Object.entries(data).filter(([, value]) => value !== undefined);
    return { ...Object.fromEntries(given), file: data.file };
  }
  const [fault] = wrongFields(error);
  throw usageError(
    `--sample ${text}: ${fault}. Give a path, or JSON such as {"file":"body.bin","contentType":"text/csv"}.`,
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw usageError(
      `--sample ${text} is no JSON (${why}). For a file of this name, give ./${text}.`,
    );
  }
}
