/** One media type for all inputs of a job, as SageMaker's jobs have one. */
import type { BatchStrategy, SplitType } from '@sagemaker-tfs/batch/settings';
import { mediaTypeOf } from '@sagemaker-tfs/tensors';
import { usageError } from '../../errors.ts';
import type { InputSource } from './inputs.ts';

/** How the inputs are cut, as far as the user says. */
interface Cut {
  readonly splitType?: SplitType | undefined;
  readonly batchStrategy?: BatchStrategy | undefined;
}

/**
 * The type that the names' endings tell.
 * @throws CommandError USAGE where one tells none, two differ, or it is that of a file whose records are sent
 * without their framing
 */
export async function typeOfInputs(source: InputSource, cut: Cut = {}): Promise<string> {
  refuseBareRecords(cut);
  let first: { readonly key: string; readonly type: string } | undefined;
  for await (const { key } of source.list()) {
    const type = mediaTypeOf(key) ?? unknownEnding(key);
    first ??= { key, type };
    if (type === first.type) continue;
    throw usageError(
      `${first.key} is ${first.type} and ${key} is ${type}, but a job has one type. Choose it with --content-type, or name the inputs in a --manifest.`,
    );
  }
  return first?.type ?? '';
}

function unknownEnding(key: string): never {
  throw usageError(
    `unknown ending: ${key}. Take it out of the inputs, name the others in a --manifest, or give all inputs one type with --content-type.`,
  );
}

/** With MultiRecord, the container's own choice, records keep their framing and so the type of their file. */
function refuseBareRecords({ splitType, batchStrategy }: Cut): void {
  if (splitType !== 'TFRecord' && splitType !== 'RecordIO') return;
  if (batchStrategy !== 'SingleRecord') return;
  throw usageError(
    `--split-type ${splitType} with --batch-strategy SingleRecord sends each record without its framing, so a file's ending does not tell the type of its records. Name it with --content-type, for example application/x-image, or keep the framing with --batch-strategy MultiRecord.`,
  );
}
