/** Frames of HTTP/2 (RFC 9113, section 4 and 6): what this client reads and writes. */

/** Length, type, flags and stream before every payload. */
export const FRAME_HEADER_BYTES = 9;

/** Frame types that mean something to a client without push. */
export const FrameType = {
  DATA: 0,
  HEADERS: 1,
  RST_STREAM: 3,
  SETTINGS: 4,
  PUSH_PROMISE: 5,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const;

/** Bits of a frame's flags; ACK and END_STREAM are the same bit, of different types. */
export const Flag = { ACK: 0x1, END_STREAM: 0x1, END_HEADERS: 0x4, PADDED: 0x8, PRIORITY: 0x20 };

/** Codes of RST_STREAM and GOAWAY. */
export const Http2Code = { NO_ERROR: 0, REFUSED_STREAM: 7, CANCEL: 8 } as const;

/** What every connection of a client begins with. */
export const CONNECTION_PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** What a frame header says. */
export interface FrameHead {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
}

/** The nine bytes before a payload of `length`. */
export function frameHeader(length: number, { type, flags, stream }: FrameHead): Buffer {
  const header = Buffer.allocUnsafe(FRAME_HEADER_BYTES);
  header.writeUIntBE(length, 0, 3);
  header.writeUInt8(type, 3);
  header.writeUInt8(flags, 4);
  header.writeUInt32BE(stream, 5);
  return header;
}

/** A whole frame with a small payload. */
export function frame(head: FrameHead, payload: Uint8Array): Buffer {
  return Buffer.concat([frameHeader(payload.byteLength, head), payload]);
}

/** A frame whose payload is one number of 32 bits: WINDOW_UPDATE's increment, RST_STREAM's code. */
export function numberFrame(type: number, stream: number, value: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(value);
  return frame({ type, flags: 0, stream }, payload);
}
