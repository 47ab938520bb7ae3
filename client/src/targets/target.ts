/** Where predictions come from, and what goes there and back. */
import type { SageMakerRuntimeClient } from '@aws-sdk/client-sagemaker-runtime';

/** A serving runtime by its address. */
export interface UrlTarget {
  /**
   * Without a path (`http://127.0.0.1:8080`) a runtime, whose `/invocations` is called; with a path the very
   * address to post to, for example an API gateway's.
   */
  readonly url: string;
}

/** A SageMaker endpoint, called through the AWS SDK. */
export interface EndpointTarget {
  readonly endpointName: string;
  /** Default: the SDK's own search (AWS_REGION, the profile). Not with `client`. */
  readonly region?: string;
  /**
   * Default: one client a region, with credentials as the SDK finds them, that leaves repetitions to
   * `predict`. A client with repetitions of its own (`maxAttempts` above 1, the SDK's default) keeps them, and
   * `predict` adds none.
   */
  readonly client?: SageMakerRuntimeClient;
}

/** A runtime or an endpoint. */
export type Target = UrlTarget | EndpointTarget;

/** A request, ready to be sent. */
export interface OutgoingRequest {
  readonly body: Uint8Array;
  readonly contentType: string;
  readonly accept: string | undefined;
  /** The header's text; empty for none. */
  readonly customAttributes: string;
  readonly targetModel: string | undefined;
  readonly targetVariant: string | undefined;
  readonly inferenceComponent: string | undefined;
  /** Bytes of an answer that is held; streams are not. */
  readonly maxAnswerBytes: number;
  /** Ends the request: the caller's signal or the timeout. */
  readonly signal: AbortSignal;
}

/** What comes before an answer's body. */
export interface AnswerHead {
  readonly status: number;
  readonly contentType: string;
  /** The header's text. */
  readonly customAttributes: string;
}

/** A successful answer as it came. */
export interface IncomingAnswer extends AnswerHead {
  readonly bytes: Uint8Array;
}

/** A successful answer that is still coming. */
export interface IncomingStream extends AnswerHead {
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** A way to a target. */
export interface Transport {
  /** For messages: the address or the endpoint. */
  readonly address: string;
  /** True if the transport repeats requests itself. */
  readonly retriesItself: boolean;
  /** @throws PredictionError; whatever the signal's end makes of the platform's call */
  send(request: OutgoingRequest): Promise<IncomingAnswer>;
  /** As `send`, for an answer in chunks, whose iteration throws likewise. */
  stream(request: OutgoingRequest): Promise<IncomingStream>;
}
