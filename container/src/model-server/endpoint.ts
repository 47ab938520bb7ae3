/** Where one process of TensorFlow Serving is reached. */
export interface ModelServerEndpoint {
  readonly host: string;
  /** 0: none. */
  readonly grpcPort: number;
  /** 0: none. */
  readonly restPort: number;
  /** Unix domain socket of the same gRPC service, faster than the port; there once the process listens. */
  readonly grpcSocket: string;
}
