/** `SAGEMAKER_TFS_BAD_RECORD=answer`: a record that cannot be read gets an error as its row, the others their answer. */
import { type Signature, split, type TensorMap } from '@sagemaker-tfs/tensors';
import { type BodyRecords, bodyRecords } from '../codecs/body-records.ts';
import { takesText } from '../codecs/csv.ts';
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
 * Bytes that are read again to find bad records, for each byte of the body: each record is read beside another. More is
 * a body made to cost.
 */
const MOST_READ_AGAIN = 16;

/**
 * Finds the bad records of a body that was refused, each tried beside the smallest good one, whose form all must have.
 * @returns undefined if the body has no records, none of them is to blame, or it would take too long to find them
 * @throws ServingError as `decodeBody` for faults that are not a record's
 */
export async function withoutBadRecords(
  body: Uint8Array,
  inference: Inference,
): Promise<GoodRecords | undefined> {
  const { signature, noSignature, contentType } = inference;
  // Records are tried in pairs, which a model of a fixed batch does not take.
  if (noSignature || hasFixedBatch(signature)) return undefined;
  const { decodeLimits: limits, signal } = inference;
  const trim = !takesText(signature);
  const parts = await bodyRecords(body, contentType, { limits, signature, trim, signal });
  if (!parts || parts.records.length === 0) return undefined;
  const bad = new Map<number, string>();
  const good: number[] = [];
  let hasUnknown = false;
  let smallest: number | undefined;
  let left = MOST_READ_AGAIN * body.byteLength;
  const sizeOf = (index: number | undefined) =>
    index === undefined ? 0 : (parts.records[index] as Uint8Array).byteLength;
  for (const index of parts.records.keys()) {
    left -= sizeOf(smallest) + sizeOf(index);
    if (left < 0) return undefined;
    const problem = await problemOf(index, smallest, parts, inference);
    if (problem === undefined) {
      good.push(index);
      if (smallest === undefined || sizeOf(index) < sizeOf(smallest)) smallest = index;
    } else bad.set(index, withPlace(problem.message, parts.place(index)));
    hasUnknown ||= problem?.code === 'UNKNOWN_INPUT';
    await nextTurn();
    inference.signal.throwIfAborted();
  }
  // Where all name inputs that the model lacks, the job was set up for another model.
  if (bad.size === 0 || (good.length === 0 && hasUnknown)) return undefined;
  if (good.length === 0) return { bad, good: undefined };
  const decoded = await decodeGood(recordsOf(parts, good), parts, inference);
  const rows = Object.values(decoded.inputs)[0]?.shape[0];
  // A record of several instances: whose row is whose is not known.
  return rows === good.length ? { bad, good: decoded } : undefined;
}

function hasFixedBatch({ inputs }: Signature): boolean {
  return Object.values(inputs).some(({ shape }) => (shape?.[0] ?? -1) >= 0);
}

function recordsOf({ records }: BodyRecords, indices: readonly number[]): Uint8Array[] {
  return indices.map((index) => records[index] as Uint8Array);
}

async function problemOf(
  index: number,
  reference: number | undefined,
  parts: BodyRecords,
  inference: Inference,
): Promise<ServingError | undefined> {
  const first = reference ?? (parts.isAmbiguous ? index : undefined);
  const tried = first === undefined ? [index] : [first, index];
  try {
    const body = await parts.join(recordsOf(parts, tried));
    const places = parts.places(tried);
    const { contentType } = parts;
    const { inputs, signature } = await decodeBody(body, inference, { contentType, places });
    checkCall(signature, inputs, inference.decodeLimits.maxStrings);
    return undefined;
  } catch (error) {
    if (isOfARecord(error)) return error;
    throw error;
  }
}

/** Adds the record's place if the message lacks it. */
function withPlace(problem: string, place: string): string {
  return problem.includes(place) ? problem : `${place}: ${problem}`;
}

async function decodeGood(
  good: readonly Uint8Array[],
  { join, isAmbiguous, contentType }: BodyRecords,
  inference: Inference,
): Promise<Decoded> {
  if (good.length > 1 || !isAmbiguous) {
    return decodeBody(await join(good), inference, { contentType });
  }
  const decoded = await decodeBody(await join([...good, ...good]), inference);
  const first = Object.entries(decoded.inputs).map(([name, tensor]) => [
    name,
    split(tensor, [1, 1])[0],
  ]);
  inference.frames = inference.frames?.slice(0, 1);
  return { ...decoded, inputs: Object.fromEntries(first) as TensorMap };
}
