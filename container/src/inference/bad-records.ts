/** `SAGEMAKER_TFS_BAD_RECORD=answer`: a record that cannot be read gets an error as its row, the others their answer. */
import { type Signature, split, type TensorMap } from '@sagemaker-tfs/tensors';
import { type BodyRecords, bodyRecords } from '../codecs/body-records.ts';
import { type ErrorCode, ServingError } from '../errors.ts';
import { nextTurn } from '../waiting/next-turn.ts';
import { checkCall } from './check-call.ts';
import { type Decoded, decodeBody } from './decode-body.ts';
import type { Inference } from './inference.ts';

/** What is wrong with the records, by their place in the body. */
export type BadRecords = ReadonlyMap<number, string>;

/** A body without its bad records. */
export interface GoodRecords {
  readonly bad: BadRecords;
  /** The others; undefined if there are none. */
  readonly good: Decoded | undefined;
}

/** Faults of a record; others, such as a type that the model cannot take, are those of the whole request. */
const OF_A_RECORD: ReadonlySet<ErrorCode> = new Set([
  'BAD_INPUT',
  'BAD_IMAGE',
  'REQUEST_TOO_LARGE',
  'UNKNOWN_INPUT',
]);

/** True for an error that a record alone may be the cause of. */
export function isOfARecord(error: unknown): error is ServingError {
  return error instanceof ServingError && OF_A_RECORD.has(error.code);
}

/**
 * Finds the bad records of a body that was refused, each tried beside the first good one, whose form all must have.
 * @returns undefined if the body has no records, or none of them is to blame
 * @throws ServingError as `decodeBody` for faults that are not a record's
 */
export async function withoutBadRecords(
  body: Uint8Array,
  inference: Inference,
): Promise<GoodRecords | undefined> {
  const { signature, noSignature, contentType } = inference;
  // Records are tried in pairs, which a model of a fixed batch does not take.
  if (noSignature || hasFixedBatch(signature)) return undefined;
  const { decodeLimits, signal } = inference;
  const parts = await bodyRecords(body, contentType, decodeLimits, signal);
  if (!parts || parts.records.length === 0) return undefined;
  const bad = new Map<number, string>();
  const good: Uint8Array[] = [];
  let hasUnknown = false;
  for (const [index, record] of parts.records.entries()) {
    const problem = await problemOf(record, good[0] ?? record, parts, inference);
    if (problem === undefined) good.push(record);
    else bad.set(index, withIndex(problem.message, index));
    hasUnknown ||= problem?.code === 'UNKNOWN_INPUT';
    await nextTurn();
    inference.signal.throwIfAborted();
  }
  // Where all name inputs that the model lacks, the job was set up for another model.
  if (bad.size === 0 || (good.length === 0 && hasUnknown)) return undefined;
  return { bad, good: good.length === 0 ? undefined : await decodeGood(good, parts, inference) };
}

function hasFixedBatch({ inputs }: Signature): boolean {
  return Object.values(inputs).some(({ shape }) => (shape?.[0] ?? -1) >= 0);
}

async function problemOf(
  record: Uint8Array,
  reference: Uint8Array,
  { join }: BodyRecords,
  inference: Inference,
): Promise<ServingError | undefined> {
  try {
    const { inputs, signature } = await decodeBody(await join([record, reference]), inference);
    checkCall(signature, inputs, inference.decodeLimits.maxStrings);
    return undefined;
  } catch (error) {
    if (isOfARecord(error)) return error;
    throw error;
  }
}

/** The record was the first of two: index 0 and line 1 mean it. */
function withIndex(problem: string, index: number): string {
  return problem.replace(/\b(record |image |document\[)0\b|\bline 1\b/g, (_, name?: string) =>
    name === undefined ? `line ${index + 1}` : `${name}${index}`,
  );
}

async function decodeGood(
  good: readonly Uint8Array[],
  { join, isAmbiguous }: BodyRecords,
  inference: Inference,
): Promise<Decoded> {
  if (good.length > 1 || !isAmbiguous) return decodeBody(await join(good), inference);
  const decoded = await decodeBody(await join([...good, ...good]), inference);
  const first = Object.entries(decoded.inputs).map(([name, tensor]) => [
    name,
    split(tensor, [1, 1])[0],
  ]);
  inference.frames = inference.frames?.slice(0, 1);
  return { ...decoded, inputs: Object.fromEntries(first) as TensorMap };
}
