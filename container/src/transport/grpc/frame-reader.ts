/** Cuts what a server sends into HTTP/2 frames, SETTINGS first; the payload of DATA is passed on as it comes. */
import { Flag, FRAME_HEADER_BYTES, type FrameHead, FrameType } from './frames.ts';

/** Who gets the frames. Buffers are valid during the call only. */
export interface FrameHandler {
  /**
   * Whether the other side may speak of this stream. Absent: of any. A connection whose frames have come apart is
   * found out by the first header that is none, instead of waiting for the rest of a frame that never ends.
   */
  knows?(stream: number): boolean;
  /** A piece of a DATA frame's content. */
  data(stream: number, piece: Buffer): void;
  /** Where content of the stream may be read to without a copy; undefined if nowhere. */
  room(stream: number): Buffer | undefined;
  /** Called with the bytes of content that were read into the room. */
  filled(stream: number, bytes: number): void;
  /** A whole frame. Of DATA, whose content went before, `payload` is empty. */
  frame(head: FrameHead, payload: Buffer): void;
}

/** The other side does not speak HTTP/2 as it should. */
export class Http2ProtocolError extends Error {
  override readonly name = 'Http2ProtocolError';
}

const EMPTY = Buffer.alloc(0);
/** Less than this is not worth a read of its own. */
const MIN_DIRECT_BYTES = 65_536;

/** An incremental reader; holds the state between two pieces. */
export class FrameReader {
  readonly #handler: FrameHandler;
  readonly #maxFrameBytes: number;
  readonly #header = Buffer.alloc(FRAME_HEADER_BYTES);
  #greeted = false;
  #headerFilled = 0;
  #head: FrameHead = { type: 0, flags: 0, stream: 0 };
  /** Of the payload, still to come; -1 between two frames. */
  #remaining = -1;
  /** Of `#remaining`, padding at the end of a DATA frame; -1 until its length was read. */
  #padding = 0;
  /** Pieces of a payload that did not come whole. */
  #parts: Buffer[] = [];

  constructor(handler: FrameHandler, maxFrameBytes: number) {
    this.#handler = handler;
    this.#maxFrameBytes = maxFrameBytes;
  }

  /** @throws Http2ProtocolError, and whatever the handler throws */
  push(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.#remaining < 0) rest = this.#readHeader(rest);
      else if (this.#head.type === FrameType.DATA) rest = this.#readData(rest);
      else rest = this.#readPayload(rest);
    }
  }

  /** Where the next bytes from the socket can go without a copy. */
  directRoom(): Buffer | undefined {
    if (this.#head.type !== FrameType.DATA || this.#padding < 0) return undefined;
    const content = this.#remaining - this.#padding;
    if (content < MIN_DIRECT_BYTES) return undefined;
    return this.#handler.room(this.#head.stream)?.subarray(0, content);
  }

  /** Notes the bytes that were read to {@link directRoom}. */
  directFilled(bytes: number): void {
    this.#handler.filled(this.#head.stream, bytes);
    this.#remaining -= bytes;
    this.#endWhereComplete();
  }

  #readHeader(chunk: Buffer): Buffer {
    const taken = Math.min(FRAME_HEADER_BYTES - this.#headerFilled, chunk.length);
    chunk.copy(this.#header, this.#headerFilled, 0, taken);
    this.#headerFilled += taken;
    if (this.#headerFilled === FRAME_HEADER_BYTES) this.#begin();
    return chunk.subarray(taken);
  }

  #begin(): void {
    const length = this.#header.readUIntBE(0, 3);
    const type = this.#header.readUInt8(3);
    const flags = this.#header.readUInt8(4);
    if (length > this.#maxFrameBytes || (!this.#greeted && type !== FrameType.SETTINGS)) {
      throw new Http2ProtocolError(
        `a frame of type ${type} and ${length} bytes at this place is not HTTP/2`,
      );
    }
    const stream = this.#header.readUInt32BE(5) & 0x7fffffff;
    if (this.#handler.knows?.(stream) === false) {
      throw new Http2ProtocolError(
        `a frame of type ${type} on stream ${stream}, which is not open`,
      );
    }
    this.#greeted = true;
    this.#head = { type, flags, stream };
    this.#headerFilled = 0;
    this.#remaining = length;
    this.#padding = type === FrameType.DATA && flags & Flag.PADDED ? -1 : 0;
    if (length === 0) this.#end(EMPTY);
  }

  #readData(chunk: Buffer): Buffer {
    if (this.#padding < 0) {
      this.#padding = chunk.readUInt8(0);
      this.#remaining -= 1;
      if (this.#padding > this.#remaining) throw new Http2ProtocolError('padding without end');
      this.#endWhereComplete();
      return chunk.subarray(1);
    }
    const taken = Math.min(this.#remaining, chunk.length);
    const content = Math.min(taken, this.#remaining - this.#padding);
    if (content > 0) this.#handler.data(this.#head.stream, chunk.subarray(0, content));
    this.#remaining -= taken;
    this.#padding = Math.min(this.#padding, this.#remaining);
    this.#endWhereComplete();
    return chunk.subarray(taken);
  }

  #endWhereComplete(): void {
    if (this.#remaining === 0) this.#end(EMPTY);
  }

  #readPayload(chunk: Buffer): Buffer {
    const piece = chunk.subarray(0, this.#remaining);
    this.#remaining -= piece.length;
    if (this.#remaining > 0) {
      this.#parts.push(Buffer.from(piece));
      return EMPTY;
    }
    const payload = this.#parts.length === 0 ? piece : Buffer.concat([...this.#parts, piece]);
    this.#parts = [];
    this.#end(payload);
    return chunk.subarray(piece.length);
  }

  #end(payload: Buffer): void {
    this.#remaining = -1;
    this.#handler.frame(this.#head, payload);
  }
}
