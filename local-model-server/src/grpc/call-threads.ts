/**
 * The threads of a synchronous gRPC server (grpc's src/cpp/thread_manager/thread_manager.cc, with TensorFlow Serving's
 * quota of `--grpc_max_threads` in server.cc). One of them polls for calls at all times. A call that arrives when the
 * only thread left is the one that polls is answered RESOURCE_EXHAUSTED by it, at once: nothing waits.
 */
import { StatusError } from '@sagemaker-tfs/libtensorflow/serving';
import { Code } from '@sagemaker-tfs/tensors/protos';

/** Text of grpc's src/cpp/server/server_cc.cc. */
const EXHAUSTED = 'Server Threadpool Exhausted';

/** Counts the calls at work. */
export class CallThreads {
  readonly #most: number;
  #busy = 0;

  /** @param quota `--grpc_max_threads` */
  constructor(quota: number) {
    this.#most = quota - 1;
  }

  /**
   * Runs a call in a thread, which it keeps until it ends, whether or not the client still waits.
   * @throws StatusError RESOURCE_EXHAUSTED without having run it
   */
  async run(call: () => Promise<void>): Promise<void> {
    if (this.#busy >= this.#most) throw new StatusError(Code.RESOURCE_EXHAUSTED, EXHAUSTED);
    this.#busy += 1;
    try {
      await call();
    } finally {
      this.#busy -= 1;
    }
  }
}
