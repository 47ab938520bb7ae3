/** gRPC methods over raw bytes, so that tensors stay views on the message as it arrived. */

import { type DescMessage, type MessageShape, toBinary } from '@bufbuild/protobuf';
import { StatusError } from '@sagemaker-tfs/libtensorflow/serving';
import type { AbortSignalLike } from '@sagemaker-tfs/tensors';
import { Code, readMessage } from '@sagemaker-tfs/tensors/protos';
import { frameMessage } from './framing.ts';
import { checkParsedSize } from './parsed-size.ts';

/**
 * One request, one reply, both as they are on the wire; the reply in its frame (`frameMessage`).
 * @param signal has the deadline of the call
 */
export type UnaryMethod = (request: Buffer, signal: AbortSignalLike | undefined) => Promise<Buffer>;

/** One request; replies are sent until the client or the server ends. */
export type StreamingMethod = (request: Buffer, send: (reply: Buffer) => void) => void;

/** Methods by path: `/package.Service/Method`. */
export interface GrpcMethods {
  readonly unary: ReadonlyMap<string, UnaryMethod>;
  readonly streaming: ReadonlyMap<string, StreamingMethod>;
}

/** A method whose messages are small enough to be parsed as a whole. */
export function messageMethod<Request extends DescMessage, Response extends DescMessage>(
  schemas: { readonly request: Request; readonly response: Response },
  handle: (
    request: MessageShape<Request>,
    signal: AbortSignalLike | undefined,
  ) => Promise<MessageShape<Response>>,
): UnaryMethod {
  return async (bytes, signal) => {
    const response = await handle(parseMessage(schemas.request, bytes), signal);
    return frameMessage([toBinary(schemas.response, response)]);
  };
}

/**
 * @throws StatusError INTERNAL, without a text, where the bytes are not such a message, as gRPC's C++ answers it;
 *   RESOURCE_EXHAUSTED where they would take more than a gigabyte
 */
export function parseMessage<Desc extends DescMessage>(
  schema: Desc,
  bytes: Uint8Array,
): MessageShape<Desc> {
  checkParsedSize(schema, bytes);
  try {
    return readMessage(schema, bytes);
  } catch (error) {
    throw new StatusError(Code.INTERNAL, '', { cause: error });
  }
}
