/** What the serving runtime needs from whatever runs the model; the transport is the implementation's. */
import type { BatchContext } from '@sagemaker-tfs/libtensorflow/joining';
import type { AbortSignalLike, Signature, SignatureMap, TensorMap } from '@sagemaker-tfs/tensors';
import type { Transport } from '@sagemaker-tfs/tensors/custom-attributes';
import type { ModelSelector, ModelVersionStatus } from '../models/servable.ts';

/** One call of a signature. */
export interface BackendRequest {
  readonly model: ModelSelector;
  /** Signature key. */
  readonly signature: string;
  readonly inputs: TensorMap;
  /** Outputs wanted, in order; all of the signature's where undefined. Others are never serialized. */
  readonly outputs?: readonly string[] | undefined;
  /** Aborts the call when the client has gone or the request timed out. */
  readonly signal?: AbortSignalLike | undefined;
  /** Set where several calls may be joined in this one. */
  readonly batch?: BatchContext | undefined;
}

/** The answer of one call. */
export interface BackendReply {
  readonly outputs: TensorMap;
  /** Version that answered, where the backend tells. */
  readonly version?: string | undefined;
  /**
   * Frees the memory that the outputs are views on, or lets it be used again; after it they must not be
   * touched. Absent or never called: it is freed as garbage.
   */
  release?(): void;
}

/** One call of a classification or regression signature. */
export interface ExamplesRequest {
  readonly model: ModelSelector;
  readonly method: 'classify' | 'regress';
  /** Signature key. */
  readonly signature: string;
  /** Serialized tf.Examples. */
  readonly examples: readonly Uint8Array[];
  readonly signal?: AbortSignalLike | undefined;
  /** Set where the examples of several calls may be joined in this one. */
  readonly batch?: BatchContext | undefined;
}

/** A class with its score. */
export interface LabeledScore {
  /** The bytes of a DT_STRING, which need not be UTF-8. */
  readonly label: Uint8Array;
  readonly score: number;
}

/** A result for each example, in order. */
export interface ExamplesReply {
  /** Classes of each example; undefined for `regress`. */
  readonly classifications?: readonly (readonly LabeledScore[])[];
  /** The value of each example; undefined for `classify`. */
  readonly regressions?: readonly number[];
  readonly version?: string;
}

/** One call whose answer goes to the client as the model server wrote it. */
export interface RelayRequest {
  readonly model: ModelSelector;
  readonly signature: Signature;
  readonly inputs: TensorMap;
  /** The answer has `predictions` for rows, `outputs` for columns. */
  readonly form: 'row' | 'columnar';
  readonly signal?: AbortSignalLike | undefined;
}

/** TensorFlow Serving's JSON, unread. */
export interface RelayReply {
  readonly body: Uint8Array;
  /** Version that answered, where the backend tells. */
  readonly version: string | undefined;
}

/** Runs models. Every method rejects with a `ServingError` from the catalogue in `errors.ts`. */
export interface Backend {
  readonly transport: Transport;
  predict(request: BackendRequest): Promise<BackendReply>;
  /** TensorFlow Serving's Classify and Regress; absent where the backend has neither. */
  examples?(request: ExamplesRequest): Promise<ExamplesReply>;
  /**
   * Writes the request for an answer that is JSON already; absent where the backend's answers are not.
   * @returns what makes the call, and resolves to undefined if the model server has no such answer to this request;
   * undefined if that is known before the call
   */
  relay?(request: RelayRequest): Promise<(() => Promise<RelayReply | undefined>) | undefined>;
  /** The signatures of a servable, cached by the implementation per version. */
  signatures(model: ModelSelector): Promise<SignatureMap>;
  /** A request did not fit the signatures: where they may be those of an older version, they are asked for anew. */
  doubt?(model: ModelSelector): void;
  status(model: ModelSelector): Promise<readonly ModelVersionStatus[]>;
  close(): Promise<void>;
}
