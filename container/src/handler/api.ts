/** The types of the handler API. */
import type { Signature, TensorMap } from '@sagemaker-tfs/tensors';
import type { PredictOptions } from '../inference/predict-options.ts';

export type { PredictOptions };

/** Writes one line: a message, or fields with a message. */
interface LogLine {
  (message: string): void;
  (fields: object, message?: string): void;
}

/** The log of the container, as a handler sees it. */
export interface HandlerLog {
  readonly trace: LogLine;
  readonly debug: LogLine;
  readonly info: LogLine;
  readonly warn: LogLine;
  readonly error: LogLine;
  readonly fatal: LogLine;
}

/** What a handler knows of its request. */
export interface Context {
  readonly modelName: string;
  /** Version asked for, decimal digits; undefined for the newest. */
  readonly modelVersion: string | undefined;
  readonly method: 'predict' | 'classify' | 'regress';
  /**
   * TensorFlow Serving's REST address for this model, version and method; with `in-process`, where there is no
   * TensorFlow Serving, and where it listens on no port (SAGEMAKER_TFS_MODEL_SERVER_TCP), only the path
   * (`/v1/models/...`): call {@link Context.predict}.
   */
  readonly restUri: string;
  /** TensorFlow Serving's gRPC port, as text; empty if there is none, as with `in-process`. */
  readonly grpcPort: string;
  /** `X-Amzn-SageMaker-Custom-Attributes` as sent; empty if it was not. */
  readonly customAttributes: string;
  /** Default: `application/json`. */
  readonly requestContentType: string;
  /** Default: `application/json`. */
  readonly acceptHeader: string;
  /** Bytes of the body; undefined if it came in chunks. */
  readonly contentLength: number | undefined;
  /**
   * The signature that is called: names, dtypes and shapes of inputs and outputs. For `outputHandler` the one that
   * the input named, if it did.
   */
  readonly signature: Signature;
  /** Aborted when the client has gone or the request timed out. */
  readonly signal: AbortSignal;
  /** Writes into the container's log, with the request's id. */
  readonly log: HandlerLog;
  /**
   * Runs the model, or another one of this container. May be called several times, also at once.
   * @returns the outputs, views on the reply's bytes or on TensorFlow's memory: read only, and valid until the
   *   response is sent; copy what is to be kept longer
   * @throws ServingError with TensorFlow Serving's own message and status
   */
  predict(inputs: TensorMap, options?: PredictOptions): Promise<TensorMap>;
}

/** The request's body; chunks as they arrive if the handler is {@link HandlerModule.streaming}. */
type HandlerData = Uint8Array;

/** A body in pieces. */
type BodyStream = AsyncIterable<Uint8Array | string>;

/**
 * An answer with everything about it said. Its `contentType` makes it one: without it, an object that has no other fields
 * than these, and a `body` with a number as `status` or with `customAttributes`, is HANDLER_FAILED, and any other is JSON.
 */
export interface HandlerResponse {
  /** Anything but text and bytes is written as JSON. */
  readonly body: string | Uint8Array | BodyStream | object;
  readonly contentType: string;
  /** From 200 to 599. Default: 200. */
  readonly status?: number;
  /**
   * Added to `X-Amzn-SageMaker-Custom-Attributes`, the only header that SageMaker passes on: an object of names and texts, not
   * the text of the header.
   */
  readonly customAttributes?: Readonly<Record<string, string>>;
}

/**
 * What a handler answers: text or bytes under the type of the Accept header, tensors encoded for it, a
 * response with everything said, a stream, or any other object as JSON.
 */
export type HandlerResult = string | Uint8Array | TensorMap | HandlerResponse | BodyStream | object;

/** What `inputHandler` returns for the model: tensors, tensors with options, or JSON as TensorFlow Serving reads it. */
export type HandlerInput =
  | TensorMap
  | ({ readonly inputs: TensorMap } & PredictOptions)
  | string
  | Uint8Array
  | { readonly instances: unknown }
  | { readonly inputs: unknown };

/** Answers a request; calls the model itself, through {@link Context.predict}. */
export type Handler<Data = HandlerData> = (
  data: Data,
  context: Context,
) => HandlerResult | Promise<HandlerResult>;

/** Turns a body into what the model gets. */
export type InputHandler<Data = HandlerData> = (
  data: Data,
  context: Context,
) => HandlerInput | Promise<HandlerInput>;

/**
 * Turns the model's outputs into the answer. Without `inputHandler`, its data are `classes` (string) and `scores`
 * (float32), both [examples, classes], after `tfs-method=classify`, and `outputs` (float32 [examples]) after `regress`.
 */
export type OutputHandler = (
  result: TensorMap,
  context: Context,
) => HandlerResult | Promise<HandlerResult>;

/** What a handler's module may export. */
export interface HandlerModule {
  readonly handler?: Handler | Handler<AsyncIterable<Uint8Array>>;
  readonly inputHandler?: InputHandler | InputHandler<AsyncIterable<Uint8Array>>;
  readonly outputHandler?: OutputHandler;
  /** True: `data` is an AsyncIterable of the body's chunks instead of the whole body. */
  readonly streaming?: boolean;
  /**
   * For readers of the OpenAPI document alone: what `request` and `answer` hold, each a schema of zod, a JSON Schema, or one by
   * media type.
   */
  readonly openapi?: { readonly request?: object; readonly answer?: object };
}
