/** NumPy's `.npz` as body: `application/x-npz`, several tensors by name. */
import { promisify } from 'node:util';
import { inflateRaw, type ZlibOptions } from 'node:zlib';
import {
  type DecodeNpyOptions,
  decodeNpzInTurns,
  encodeNpzInTurns,
  type Tensor,
} from '@sagemaker-tfs/tensors';
import { nextTurn } from '../waiting/next-turn.ts';
import type { RequestCodec, ResponseCodec } from './codec.ts';
import { fitInput, kindOf } from './fit-input.ts';
import { inputError, unknownInput } from './input-error.ts';
import { unwritable } from './npy-values.ts';
import { orderedOutputs } from './ordered-outputs.ts';
import './native-checksums.ts';

const NPZ = 'application/x-npz';
/** `np.savez(file, array)`'s name for an array without one. */
const UNNAMED = 'arr_0';

/** Arrays named after the inputs; a single unnamed one is the only input. */
export const npzRequest: RequestCodec = {
  mediaTypes: [NPZ],
  async decode(body, { signature, limits }) {
    const names = Object.keys(signature.inputs);
    const inputOf = (name: string, count: number) =>
      name === UNNAMED && count === 1 && names.length === 1 ? (names[0] as string) : name;
    const wanted = (name: string, count: number): DecodeNpyOptions => {
      const input = inputOf(name, count);
      if (!Object.hasOwn(signature.inputs, input)) throw unknownInput(input, signature);
      return { kind: kindOf(signature.inputs[input]), maxStrings: limits.maxStrings };
    };
    const { maxDecodedBytes, smallNpzBytes, maxNpzRatio, maxNameBytes } = limits;
    const byRatio = Math.max(smallNpzBytes, body.byteLength * maxNpzRatio);
    const maxBytes = Math.min(maxDecodedBytes, byRatio);
    const options = { maxBytes, maxNameBytes, wanted, inflate, nextTurn };
    const arrays = await decodeNpzInTurns(body, options).catch((error: unknown) => {
      throw inputError(error, 'the .npz archive');
    });
    const entries = Object.entries(arrays);
    const inputs = entries.map(([name, array]): [string, Tensor] => {
      const input = inputOf(name, entries.length);
      return [input, fitInput(array, input, signature)];
    });
    return { inputs: Object.fromEntries(inputs), form: 'columnar' };
  },
};

const inflateInThread = promisify<Uint8Array, ZlibOptions, Buffer>(inflateRaw);

function inflate(raw: Uint8Array, size: number): Promise<Uint8Array> {
  // Of 0 bytes at most, zlib knows nothing.
  return inflateInThread(raw, { maxOutputLength: Math.max(size, 1) });
}

/** All outputs by name. */
export const npzResponse: ResponseCodec = {
  mediaTypes: [NPZ],
  async encode(outputs, context) {
    const ordered = orderedOutputs(outputs, context);
    try {
      return { contentType: NPZ, body: await encodeNpzInTurns(ordered, nextTurn) };
    } catch (error) {
      throw unwritable(error, NPZ);
    }
  },
};
