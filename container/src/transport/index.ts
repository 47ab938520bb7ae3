/** The two clients for the model server and their parts, for benchmarks and fuzzing. */
export { giveBytes } from '../memory/byte-pool.ts';
export { ConnectionLost } from './connection-lost.ts';
export { type FrameHandler, FrameReader, Http2ProtocolError } from './grpc/frame-reader.ts';
export {
  CONNECTION_PREFACE,
  Flag,
  type FrameHead,
  FrameType,
  frame,
  frameHeader,
  numberFrame,
} from './grpc/frames.ts';
export { encodeHeaders, HeaderDecoder } from './grpc/hpack.ts';
export { MessageAssembler } from './grpc/message-assembler.ts';
export { OutgoingMessage } from './grpc/outgoing-message.ts';
export {
  FIRST_FRAME_BYTES,
  FIRST_WINDOW_BYTES,
  greeting,
  MAX_FRAME_BYTES,
  Setting,
  settingsIn,
  WINDOW_UPDATE_BYTES,
} from './grpc/settings.ts';
export { UnaryChannel } from './grpc/unary-channel.ts';
export { HttpClient } from './http/http-client.ts';
export { HttpConnection } from './http/http-connection.ts';
export { type BodySink, HttpProtocolError, ResponseReader } from './http/response-reader.ts';
export { UnusableReply } from './unusable-reply.ts';
