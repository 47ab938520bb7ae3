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
  const { decodeLimits: limits, signal } = inference;
  const trim = !takesText(signature);
  const parts = await bodyRecords(body, contentType, { limits, trim, signal });
  if (!parts || parts.records.length === 0) return undefined;
  const bad = new Map<number, string>();
  const good: Uint8Array[] = [];
  let reference: number | undefined;
  let hasUnknown = false;
  for (const [index, record] of parts.records.entries()) {
    const problem = await problemOf(record, good[0], parts, inference);
    if (problem === undefined) {
      good.push(record);
      reference ??= index;
    } else bad.set(index, withPlace(problem.message, parts, index, reference ?? index));
    hasUnknown ||= problem?.code === 'UNKNOWN_INPUT';
    await nextTurn();
    inference.signal.throwIfAborted();
  }
  // Where all name inputs that the model lacks, the job was set up for another model.
  if (bad.size === 0 || (good.length === 0 && hasUnknown)) return undefined;
  if (good.length === 0) return { bad, good: undefined };
  const decoded = await decodeGood(good, parts, inference);
  const rows = Object.values(decoded.inputs)[0]?.shape[0];
  // A record of several instances: whose row is whose is not known.
  return rows === good.length ? { bad, good: decoded } : undefined;
}

function hasFixedBatch({ inputs }: Signature): boolean {
  return Object.values(inputs).some(({ shape }) => (shape?.[0] ?? -1) >= 0);
}

async function problemOf(
  record: Uint8Array,
  reference: Uint8Array | undefined,
  { join, isAmbiguous }: BodyRecords,
  inference: Inference,
): Promise<ServingError | undefined> {
  const first = reference ?? (isAmbiguous ? record : undefined);
  try {
    const tried = await join(first ? [first, record] : [record]);
    const { inputs, signature } = await decodeBody(tried, inference);
    checkCall(signature, inputs, inference.decodeLimits.maxStrings);
    return undefined;
  } catch (error) {
    if (isOfARecord(error)) return error;
    throw error;
  }
}

/** The message with the record's own place. It was the second of two, whose first was the one at `reference`. */
function withPlace(
  problem: string,
  { place }: BodyRecords,
  index: number,
  reference: number,
): string {
  const own = place(index);
  const said = own.startsWith('line ')
    ? problem.replace(/\bline \d+\b/, own)
    : problem.replace(
        /\b(record |image |document |document\[)([01])\b/g,
        (_, name: string, at: string) => `${name}${at === '0' ? reference : index}`,
      );
  return said === problem && !said.includes(own) ? `${own}: ${problem}` : said;
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
