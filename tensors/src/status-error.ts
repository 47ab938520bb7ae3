/** The one error of TensorFlow's runtimes: over gRPC, over REST and in this process. */

/** A failed call or load. */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  /** TensorFlow's and gRPC's status code; see `GrpcStatus`. */
  readonly code: number;

  /** @param message what clients read */
  constructor(code: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
