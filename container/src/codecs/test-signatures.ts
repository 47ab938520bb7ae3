/** Signatures and contexts for the tests of codecs. */
import type { Preprocess } from '@sagemaker-tfs/manifest';
import {
  DTYPES,
  type DType,
  type Nested,
  type Signature,
  type TensorMap,
  type TensorSpec,
  toNested,
} from '@sagemaker-tfs/tensors';
import { DEFAULT_DECODE_LIMITS } from '../decode-limits.ts';
import type { DecodeContext, EncodeContext, EncodedResponse } from './codec.ts';

type SpecOf = Readonly<Record<string, readonly [DType, readonly number[] | undefined]>>;

/** A signature from `{name: [dtype, shape]}`. */
export function signatureOf(inputs: SpecOf, outputs: SpecOf = {}): Signature {
  return {
    key: 'serving_default',
    methodName: 'tensorflow/serving/predict',
    inputs: specsOf(inputs),
    outputs: specsOf(outputs),
  };
}

function specsOf(specs: SpecOf): Record<string, TensorSpec> {
  return Object.fromEntries(
    Object.entries(specs).map(([name, [dtype, shape]]) => [
      name,
      { tensorName: `${name}:0`, dtype, dtypeEnum: DTYPES[dtype].enumValue, shape },
    ]),
  );
}

/** A context for decoding. */
export function decodeContext(
  signature: Signature,
  contentType: string,
  preprocess?: Preprocess,
): DecodeContext {
  return {
    signature,
    contentType,
    limits: {
      ...DEFAULT_DECODE_LIMITS,
      maxDecodedBytes: 50_000_000,
      maxImagePixels: 4_000_000,
      parquet: true,
    },
    ...(preprocess && { preprocess }),
  };
}

/** A context for encoding. */
export function encodeContext(
  outputOrder: readonly string[] = [],
  form: 'row' | 'columnar' = 'row',
): EncodeContext {
  return { signature: signatureOf({}), outputOrder, form, parquet: true };
}

/** The whole body. */
export async function bodyOf({ body }: EncodedResponse): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Tensors as nested lists. */
export function nestedOf(tensors: TensorMap): Record<string, Nested> {
  return Object.fromEntries(
    Object.entries(tensors).map(([name, tensor]) => [name, toNested(tensor)]),
  );
}
