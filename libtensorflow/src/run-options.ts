/** TensorFlow's RunOptions (tensorflow/core/protobuf/config.proto) of one run: timeout_in_ms = 2, inter_op_thread_pool = 3. */
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import type { CApi, Pointer } from './c-api.ts';

/** No pool, the calling thread. */
const CALLING_THREAD = new BinaryWriter()
  .uint32(3 << 3)
  .int32(-1)
  .finish();

/** A run in the calling thread, which no deadline ends. @returns a TF_Buffer */
export function inCallingThread(api: CApi): Pointer {
  return api.TF_NewBufferFromString(CALLING_THREAD, CALLING_THREAD.length);
}

/**
 * A run that TensorFlow cancels at the deadline, with DEADLINE_EXCEEDED. Loops and what waits end at once, other operations
 * first finish what they are at.
 * @param deadline as `performance.now()` counts
 * @returns a TF_Buffer
 */
export function endingAt(api: CApi, deadline: number): Pointer {
  const milliseconds = Math.max(1, Math.ceil(deadline - performance.now()));
  const bytes = new BinaryWriter()
    .uint32(2 << 3)
    .int64(milliseconds)
    .finish();
  return api.TF_NewBufferFromString(bytes, bytes.length);
}
