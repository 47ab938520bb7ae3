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
import { MAX_STRINGS, type RequestCodec, type ResponseCodec } from './codec.ts';
import { fitInput, kindOf } from './fit-input.ts';
import { inputError, unknownInput } from './input-error.ts';
import { orderedOutputs } from './ordered-outputs.ts';
import './native-checksums.ts';

const NPZ = 'application/x-npz';
/** The name that `np.savez(file, array)` gives an array without one. */
const UNNAMED = 'arr_0';

/** A small archive may hold so much, whatever it was compressed from. */
const SMALL_BYTES = 64 * 1024 * 1024;
/** A larger one may hold so many times its own bytes: tensors that compress better are masks, or made to harm. */
const MAX_RATIO = 100;

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
      return { kind: kindOf(signature.inputs[input]), maxStrings: MAX_STRINGS };
    };
    const maxBytes = Math.min(
      limits.maxDecodedBytes,
      Math.max(SMALL_BYTES, body.byteLength * MAX_RATIO),
    );
    const arrays = await decodeNpzInTurns(body, { maxBytes, wanted, inflate, nextTurn }).catch(
      (error: unknown) => {
        throw inputError(error, 'the .npz archive');
      },
    );
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
    const body = await encodeNpzInTurns(orderedOutputs(outputs, context), nextTurn);
    return { contentType: NPZ, body };
  },
};
