/** A successful answer, read when asked. */
import { type DType, parseJson } from '@sagemaker-tfs/tensors';
import { parseCustomAttributes } from '@sagemaker-tfs/tensors/custom-attributes';
import type { IncomingAnswer } from '../targets/target.ts';
import type { TypedTensor } from '../typed-tensor.ts';
import { readTensors } from './read-tensors.ts';
import { reading } from './reading.ts';

/** What came back. */
export interface Answer {
  /** HTTP status, 200 as a rule. */
  readonly status: number;
  /** Media type as sent, parameters included. */
  readonly contentType: string;
  /**
   * What the container tells besides the body, by name: `tfs-model-version`, `tfs-fingerprint`, ... From a
   * browser, only where the server exposes the header (Access-Control-Expose-Headers).
   */
  readonly customAttributes: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  /**
   * The outputs by name, from npy, npz, TFRecord, or JSON in row or columnar form. Where the answer does not
   * name its only output, the name is the one asked for, else `output`.
   *
   * JSON does not tell dtypes. Without `dtypes`, whole numbers without a decimal point are int64, other
   * numbers float64, which loses nothing: `{ scores: 'float32' }` returns the model's own float32.
   * @throws PredictionError UNREADABLE_ANSWER
   */
  tensors(dtypes?: Readonly<Record<string, DType>>): Readonly<Record<string, TypedTensor>>;
  /**
   * The body as JSON; integers beyond 2^53 are bigint, bare NaN and Infinity numbers.
   * @throws PredictionError UNREADABLE_ANSWER
   */
  json(): unknown;
  /** The body as text, read as UTF-8. */
  text(): string;
}

/** An answer with its readers. `outputs` are those that the request asked for, `maxBytes` what an npz may hold. */
export function readAnswer(
  { status, contentType, customAttributes: header, bytes }: IncomingAnswer,
  { outputs, maxBytes }: { outputs?: readonly string[] | undefined; maxBytes: number },
): Answer {
  const customAttributes = parseCustomAttributes(header);
  return {
    status,
    contentType,
    customAttributes,
    bytes,
    tensors: (dtypes = {}) =>
      readTensors({ contentType, customAttributes, bytes, outputs, maxBytes, dtypes }),
    json: () => reading('JSON', () => parseJson(bytes)),
    text: () => new TextDecoder().decode(bytes),
  };
}
