/** What the runtime answers for a record that it could not answer: an object with nothing beside the error. */
import { parseJson } from '@sagemaker-tfs/tensors';
import * as z from 'zod';

const schema = z.strictObject({ error: z.string() });

/** Why there is no answer; undefined for a row that is one. @param row JSON. @throws TensorError MALFORMED */
export function errorOfRow(row: string): string | undefined {
  const parsed = schema.safeParse(parseJson(row));
  return parsed.success ? parsed.data.error : undefined;
}
