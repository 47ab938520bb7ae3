/** What stands in for the model behind an endpoint. */

/** A request to the model, as InvokeEndpoint has it. */
export interface Invocation {
  readonly endpoint: string;
  readonly variant: string | undefined;
  /** The inference component that is asked. */
  readonly component?: string | undefined;
  readonly contentType: string | undefined;
  readonly accept: string | undefined;
  readonly customAttributes: string;
  readonly body: Buffer;
}

/** The model's answer. A status that is not 2xx becomes SageMaker's ModelError. */
export interface ModelReply {
  readonly status: number;
  readonly contentType: string;
  readonly customAttributes: string;
  readonly body: Uint8Array;
}

/** The model, asked at once or through a queue. */
export interface ModelStandIn {
  readonly invoke: (invocation: Invocation) => Promise<ModelReply> | ModelReply;
  /** Whether the queue of an asynchronous endpoint is never worked on. @default false */
  readonly asleep?: boolean;
}
