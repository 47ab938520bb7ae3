/** Records without an answer in an `.npz`, which `SAGEMAKER_TFS_BAD_RECORD=answer` masks. */
import { decodeNpz, ERROR_MASK, TensorError, toNumbers } from '@sagemaker-tfs/tensors';

/** An archive in base64, as `answersOf` writes bytes: `PK\x03\x04`. */
const ARCHIVE = /^\{"base64":"(UEsDB[^"]*)"\}$/;
const MASK_FILE = `${ERROR_MASK}.npy`;

/**
 * For each record of an answer whether it has none.
 * @param json of the answer
 * @returns undefined if the answer is no `.npz` with a mask
 */
export function maskedRecords(json: string): readonly boolean[] | undefined {
  const base64 = ARCHIVE.exec(json)?.[1];
  if (base64 === undefined) return undefined;
  const bytes = Buffer.from(base64, 'base64');
  if (!bytes.includes(MASK_FILE)) return undefined;
  try {
    // The runtime writes archives that are not compressed.
    const { [ERROR_MASK]: mask } = decodeNpz(bytes, { maxBytes: bytes.length });
    if (mask?.dtype !== 'bool' || mask.shape.length !== 1) return undefined;
    return Array.from(toNumbers(mask), Boolean);
  } catch (error) {
    if (error instanceof TensorError) return undefined;
    throw error;
  }
}
