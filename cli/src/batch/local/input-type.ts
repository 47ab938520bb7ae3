/** One media type for all inputs of a job, as SageMaker's jobs have one. */
import { usageError } from '../../errors.ts';
import { requireMediaType } from '../../serving/media-type.ts';
import type { InputSource } from './inputs.ts';

/** The type that the names' endings tell. @throws CommandError USAGE where one tells none, or two differ */
export async function typeOfInputs(source: InputSource): Promise<string> {
  let first: { readonly key: string; readonly type: string } | undefined;
  for await (const { key } of source.list()) {
    const type = requireMediaType(key);
    first ??= { key, type };
    if (type === first.type) continue;
    throw usageError(
      `${first.key} is ${first.type} and ${key} is ${type}, but a job has one type. Choose it with --content-type, or name the inputs in a --manifest.`,
    );
  }
  return first?.type ?? '';
}
