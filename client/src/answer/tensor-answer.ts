/** What the readers of tensors are given. */
import type { DType } from '@sagemaker-tfs/tensors';

/** An answer and what the request knows of it. */
export interface TensorAnswer {
  readonly contentType: string;
  readonly customAttributes: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  /** Outputs asked for by name. */
  readonly outputs: readonly string[] | undefined;
  /** Bytes that the arrays of an npz may hold. */
  readonly maxBytes: number;
  readonly dtypes: Readonly<Record<string, DType>>;
}

/** Where neither the answer nor the request names the only output. */
const UNNAMED = 'output';

/** The name of an output that the answer does not name. */
export function onlyName(outputs: readonly string[] | undefined): string {
  return outputs?.length === 1 ? (outputs[0] as string) : UNNAMED;
}
