/** NumPy's `.npy` as body: `application/x-npy`, one tensor in; one or several of one dtype out. */
import {
  DTYPES,
  encodeNpy,
  encodeNpyInTurns,
  type Tensor,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';
import { nextTurn } from '../waiting/next-turn.ts';
import { readArray } from './array-thread.ts';
import type { EncodeContext, EncodedResponse, RequestCodec, ResponseCodec } from './codec.ts';
import { dtypeOf, onlyInput } from './input-error.ts';
import { unwritable } from './npy-values.ts';
import { orderedOutputs } from './ordered-outputs.ts';
import { outputShapes } from './output-shapes.ts';

const NPY = 'application/x-npy';

/** One array for the signature's only input. */
export const npyRequest: RequestCodec = {
  mediaTypes: [NPY],
  async decode(body, { signature, limits: { maxStrings }, signal }) {
    const name = onlyInput(signature, NPY);
    const where = `the .npy array for input '${name}', which takes ${dtypeOf(name, signature)}`;
    const task = { kind: 'array', body, name, signature, maxStrings, where } as const;
    return { inputs: { [name]: await readArray(task, signal) }, form: 'row' };
  },
};

/**
 * One output as it is. Several of one dtype are flattened and concatenated in the order asked for; the custom
 * attribute `tfs-output-shapes` then tells how to part them (see `outputShapes`).
 */
export const npyResponse: ResponseCodec = {
  mediaTypes: [NPY],
  async encode(outputs, context): Promise<EncodedResponse> {
    const tensors = orderedOutputs(outputs, context);
    const [single, ...others] = Object.values(tensors);
    const isSingle = single !== undefined && others.length === 0;
    return {
      contentType: NPY,
      body: isSingle ? await written(single) : concatenated(tensors, context),
      customAttributes: outputShapes(tensors),
    };
  },
};

async function written(output: Tensor): Promise<readonly Uint8Array[]> {
  try {
    return await encodeNpyInTurns(output, nextTurn);
  } catch (error) {
    throw unwritable(error, NPY);
  }
}

/** A `.npy` header for all elements, then every tensor's own bytes: nothing is copied together. */
function concatenated(outputs: TensorMap, { signature }: EncodeContext): readonly Uint8Array[] {
  const tensors = Object.values(outputs);
  const dtypes = new Set(tensors.map(({ dtype }) => dtype));
  const [dtype] = dtypes;
  if (dtypes.size !== 1 || dtype === undefined || dtype === 'string') {
    const list = Object.entries(outputs).map(([name, tensor]) => `${name} ${tensor.dtype}`);
    throw new ServingError(
      'NOT_ACCEPTABLE',
      `${NPY} carries one output, or several of one numeric dtype. Signature '${signature.key}' has ${list.join(', ')}. Accept application/x-npz, or ask for fewer with tfs-outputs.`,
    );
  }
  const pieces = tensors.map((tensor) => bytesOf(tensor));
  const length = pieces.reduce((sum, piece) => sum + piece.byteLength, 0) / DTYPES[dtype].size;
  const whole = { dtype, shape: [length], bytes: new Uint8Array(0) };
  const [header] = encodeNpy(whole);
  return [header as Uint8Array, ...pieces];
}

function bytesOf(tensor: Tensor): Uint8Array {
  if (tensor.dtype === 'string') throw new TypeError('strings are not concatenated');
  return tensor.bytes;
}
