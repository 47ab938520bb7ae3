/** One media type for all inputs of a job, as SageMaker's jobs have one. */
import type { BatchStrategy, SplitType } from '@sagemaker-tfs/batch/settings';
import { mediaTypeOf } from '@sagemaker-tfs/tensors';
import { type CommandError, usageError } from '../../errors.ts';
import type { BatchInput } from './inputs.ts';

/** How the inputs are cut, as far as the user says. */
interface Cut {
  readonly splitType?: SplitType | undefined;
  readonly batchStrategy?: BatchStrategy | undefined;
}

/**
 * The type that the names' endings tell.
 * @throws CommandError USAGE if one tells none, two differ, or it is that of a file whose records are sent
 * without their framing
 */
export async function typeOfInputs(
  source: { list(): AsyncIterable<Pick<BatchInput, 'key'>> },
  cut: Cut = {},
): Promise<string> {
  refuseBareRecords(cut);
  let first: { readonly key: string; readonly type: string } | undefined;
  const unknown: string[] = [];
  for await (const { key } of source.list()) {
    const type = mediaTypeOf(key);
    if (type === undefined) {
      unknown.push(key);
      if (unknown.length < MOST_NAMED) continue;
      break;
    }
    first ??= { key, type };
    if (type === first.type || unknown.length > 0) continue;
    throw usageError(
      `${first.key} is ${first.type} and ${key} is ${type}, but a job has one type. Choose it with --content-type, or name the inputs in a manifest.`,
    );
  }
  if (unknown.length > 0) throw unknownEndings(unknown);
  return first?.type ?? '';
}

/** Inputs of unknown endings that one message names, so that a folder is tidied at once. */
const MOST_NAMED = 10;

function unknownEndings(keys: readonly string[]): CommandError {
  const them = keys.length === 1 ? 'it' : 'them';
  const more = keys.length === MOST_NAMED ? ', and maybe more' : '';
  return usageError(
    `unknown ending: ${keys.join(', ')}${more}. Take ${them} out of the inputs, name the others in a manifest, or give all inputs one type with --content-type.`,
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
