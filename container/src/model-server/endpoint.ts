/** Where one process of TensorFlow Serving is reached. */
export interface ModelServerEndpoint {
  readonly host: string;
  /** 0: none. */
  readonly grpcPort: number;
  /** 0: none. */
  readonly restPort: number;
  /** Unix domain socket of the same gRPC service; there while the process listens on it and on all of its ports. */
  readonly grpcSocket: string;
}
