/** NumPy's `.npz` as body: `application/x-npz`, several tensors by name. */
import { decodeNpz, encodeNpzInTurns, type Tensor } from '@sagemaker-tfs/tensors';
import { nextTurn } from '../next-turn.ts';
import type { RequestCodec, ResponseCodec } from './codec.ts';
import { fitInput } from './fit-input.ts';
import { reading } from './input-error.ts';
import { orderedOutputs } from './ordered-outputs.ts';
import './native-checksums.ts';

const NPZ = 'application/x-npz';
/** The name that `np.savez(file, array)` gives an array without one. */
const UNNAMED = 'arr_0';

/** Arrays named after the inputs; a single unnamed one is the only input. */
export const npzRequest: RequestCodec = {
  mediaTypes: [NPZ],
  async decode(body, { signature, limits }) {
    const maxBytes = limits.maxDecodedBytes;
    const arrays = Object.entries(reading(() => decodeNpz(body, { maxBytes }), 'the .npz archive'));
    const names = Object.keys(signature.inputs);
    const inputs = arrays.map(([name, array]): [string, Tensor] => {
      const isOnlyOne = name === UNNAMED && arrays.length === 1 && names.length === 1;
      const input = isOnlyOne ? (names[0] as string) : name;
      return [input, fitInput(array, input, signature)];
    });
    return { inputs: Object.fromEntries(inputs), form: 'columnar' };
  },
};

/** All outputs by name. */
export const npzResponse: ResponseCodec = {
  mediaTypes: [NPZ],
  async encode(outputs, context) {
    const body = await encodeNpzInTurns(orderedOutputs(outputs, context), nextTurn);
    return { contentType: NPZ, body };
  },
};
