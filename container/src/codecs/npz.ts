/** NumPy's `.npz` as body: `application/x-npz`, several tensors by name. */
import { promisify } from 'node:util';
import { inflateRaw, type ZlibOptions } from 'node:zlib';
import { type DecodeNpyOptions, decodeNpzInTurns, encodeNpzInTurns } from '@sagemaker-tfs/tensors';
import { nextTurn } from '../waiting/next-turn.ts';
import { readArray } from './array-thread.ts';
import type { RequestCodec, ResponseCodec } from './codec.ts';
import { kindOf } from './fit-input.ts';
import { inputError, unknownInput } from './input-error.ts';
import { withMask } from './masked-rows.ts';
import { unwritable } from './npy-values.ts';
import { orderedOutputs } from './ordered-outputs.ts';
import './native-checksums.ts';

const NPZ = 'application/x-npz';
/** `np.savez(file, array)`'s name for an array without one. */
const UNNAMED = 'arr_0';

/** Strings of an array in a small archive, and for each byte of a larger one. Deflated, a kilobyte is a million empty ones. */
const FEW_STRINGS = 65_536;
const STRINGS_PER_BYTE = 10;

/** Arrays named after the inputs; a single unnamed one is the only input. */
export const npzRequest: RequestCodec = {
  mediaTypes: [NPZ],
  async decode(body, { signature, limits, signal }) {
    const { maxDecodedBytes, smallNpzBytes, maxNpzRatio, maxNameBytes } = limits;
    const stringsInside = Math.max(FEW_STRINGS, body.byteLength * STRINGS_PER_BYTE);
    const maxStrings = Math.min(limits.maxStrings, stringsInside);
    const names = Object.keys(signature.inputs);
    const inputs = new Map<string, string>();
    const wanted = (name: string, count: number): DecodeNpyOptions => {
      const isUnnamed = name === UNNAMED && count === 1 && names.length === 1;
      const input = isUnnamed ? (names[0] as string) : name;
      if (!Object.hasOwn(signature.inputs, input)) throw unknownInput(input, signature);
      inputs.set(name, input);
      return { kind: kindOf(signature.inputs[input]), maxStrings };
    };
    const decode = (file: Uint8Array, array: string) => {
      const name = inputs.get(array) as string;
      const isFewer = maxStrings < limits.maxStrings;
      const where = `"${array}"${isFewer ? ` in an archive of ${body.byteLength} bytes` : ''}`;
      return readArray({ kind: 'array', body: file, name, signature, maxStrings, where }, signal);
    };
    const byRatio = Math.max(smallNpzBytes, body.byteLength * maxNpzRatio);
    const maxBytes = Math.min(maxDecodedBytes, byRatio);
    const turn = async () => {
      await nextTurn();
      signal?.throwIfAborted();
    };
    const options = { maxBytes, maxNameBytes, wanted, inflate, nextTurn: turn, decode };
    const arrays = await decodeNpzInTurns(body, options).catch((error: unknown) => {
      throw inputError(error, 'the .npz archive');
    });
    const tensors = Object.entries(arrays).map(([array, tensor]) => [inputs.get(array), tensor]);
    return { inputs: Object.fromEntries(tensors), form: 'columnar' };
  },
};

/** zlib's own. */
const MIN_CHUNK = 64;
const MAX_CHUNK = 2 ** 30;

const inflateInThread = promisify<Uint8Array, ZlibOptions, Buffer>(inflateRaw);

function inflate(raw: Uint8Array, size: number): Promise<Uint8Array> {
  // Of 0 bytes at most, zlib knows nothing. In one piece, which the event loop need not join; a byte is left over, so
  // that zlib does not ask for another piece.
  const chunkSize = Math.min(Math.max(size + 1, MIN_CHUNK), MAX_CHUNK);
  return inflateInThread(raw, { maxOutputLength: Math.max(size, 1), chunkSize });
}

/** All outputs by name; beside bad records also the mask of those. */
export const npzResponse: ResponseCodec = {
  mediaTypes: [NPZ],
  async encode(outputs, context) {
    const { badRecords } = context;
    const isNothing = badRecords !== undefined && Object.keys(outputs).length === 0;
    const ordered = isNothing ? {} : orderedOutputs(outputs, context);
    const arrays = badRecords ? await withMask(ordered, badRecords) : ordered;
    try {
      return { contentType: NPZ, body: await encodeNpzInTurns(arrays, nextTurn) };
    } catch (error) {
      throw unwritable(error, NPZ);
    }
  },
};
