/**
 * The client's side of one HTTP/2 connection in clear text (RFC 9113), as far as unary gRPC needs it. It
 * stands in for node:http2 because that one stops reading while a write has not gone out: with a server that
 * does the same, large requests and large replies at a time wait for each other for ever. And it reads
 * replies to where they stay, without a copy (`npm run bench -- --only model-server-call` has node:http2, grpc-js and
 * undici beside it).
 *
 * The connection goes from `greeting` to `open` to `lost`, and may be retired in the first two:
 *
 * | state    | event                                   | next                                                        |
 * | -------- | --------------------------------------- | ----------------------------------------------------------- |
 * | greeting | a request                               | it waits: the server could refuse what comes before its settings |
 * | greeting | SETTINGS                                | open: requests that wait are sent                           |
 * | open     | a request                               | it is sent where the server has a place for it, else it waits |
 * | open     | a stream ends                           | the next that waits is sent                                 |
 * | both     | `retire()`, the last stream id          | retired: takes no more, closes after its last stream        |
 * | both     | GOAWAY                                  | retired, and what the server has not seen fails             |
 * | both     | closed, protocol error, `destroy()`     | lost: every stream fails                                    |
 *
 * A stream, by {@link StreamState}:
 *
 * | state   | event                                   | next    | its reader gets                              |
 * | ------- | --------------------------------------- | ------- | -------------------------------------------- |
 * | waiting | a place is free                         | sending |                                              |
 * | waiting | GOAWAY, connection lost                 | ended   | `failed`, not sent                           |
 * | sending | windows allow, message goes out whole   | sent    |                                              |
 * | sending | END_STREAM                              | ended   | `end`; the server gets CANCEL             |
 * | sent    | END_STREAM                              | ended   | `end`                                        |
 * | sending, sent | RST_STREAM, connection lost       | ended   | `failed`, sent where it was sent and not refused |
 * | sending, sent | GOAWAY with an earlier id         | ended   | `failed`, not sent                           |
 * | waiting, sending, sent | given up                 | ended   | nothing; the server gets CANCEL if it was opened |
 * | sent    | given up with `onEnd`                   | sent    | nothing; `onEnd` instead of `end` and `failed` |
 */
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { removeFrom } from '../../memory/remove-from.ts';
import { type FrameHandler, FrameReader, Http2ProtocolError } from './frame-reader.ts';
import {
  CONNECTION_PREFACE,
  Flag,
  type FrameHead,
  FrameType,
  frame,
  frameHeader,
  Http2Code,
  numberFrame,
} from './frames.ts';
import { HeaderDecoder, type HeaderFields } from './hpack.ts';
import { OutgoingMessage } from './outgoing-message.ts';
import {
  FIRST_FRAME_BYTES,
  FIRST_WINDOW_BYTES,
  greeting,
  MAX_FRAME_BYTES,
  Setting,
  type SettingEntry,
  settingsIn,
  WINDOW_UPDATE_BYTES,
} from './settings.ts';

/** Who gets what the server answers on one stream. Buffers are valid during the call only. */
export interface StreamReader {
  headers(fields: HeaderFields): void;
  data(piece: Buffer): void;
  /** Where the next content may be read to without a copy; undefined if nowhere. */
  room(): Buffer | undefined;
  filled(bytes: number): void;
  /** The server has said all. */
  end(): void;
  /** No answer will come. `wasSent`: the server has all of the request, and may have worked on it. */
  failed(cause: Error, wasSent: boolean): void;
}

/**
 * Abandons an answer. With `onEnd`, a server that has all of the request is left to finish it, since it would
 * anyway; its answer is dropped, and `onEnd` called when it or the connection has ended. Else the stream is reset.
 */
export type Cancel = (onEnd?: () => void) => void;

/** How far a request is; the table above has the transitions. */
type StreamState = 'waiting' | 'sending' | 'sent' | 'ended';

interface Stream {
  state: StreamState;
  reader: StreamReader;
  readonly headers: Buffer;
  readonly message: OutgoingMessage;
  /** Zero while it waits. */
  id: number;
  /** Bytes of DATA that the server takes now. */
  window: number;
}

/** For everything but the content of large frames; what is in it is copied. */
const SCRATCH_BYTES = 262_144;
/** Stream ids are odd and below 2^31. */
const LAST_STREAM = 2 ** 31 - 1;

const HELLO = Buffer.concat([CONNECTION_PREFACE, greeting([[Setting.ENABLE_PUSH, 0]])]);

/** One connection; opened at once, and of no use any more after it was lost. */
export class Http2Connection implements FrameHandler {
  readonly #socket: Socket;
  readonly #reader = new FrameReader(this, MAX_FRAME_BYTES);
  readonly #scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  readonly #decoder = new HeaderDecoder();
  readonly #streams: Stream[] = [];
  /** Streams with something to send, in the order of their requests. */
  readonly #sending: Stream[] = [];
  /** Streams for which the server has no place yet. */
  readonly #waiting: Stream[] = [];
  readonly #peer = {
    window: FIRST_WINDOW_BYTES,
    frame: FIRST_FRAME_BYTES,
    streams: Number.POSITIVE_INFINITY,
  };
  #direct: Buffer | undefined;
  #sendWindow = FIRST_WINDOW_BYTES;
  #receivedBytes = 0;
  #nextStream = 1;
  /** Of headers that are continued: how they began, and what came of them. */
  #headerStart: FrameHead | undefined;
  #headerBlock: Buffer[] = [];
  /** Before the server's settings are known, it could refuse what it is sent. */
  #state: 'greeting' | 'open' | 'lost' = 'greeting';
  /** Takes no more requests. */
  #retired = false;
  #failure: Error | undefined;

  /** @param onClose called when it ended, for whatever reason */
  constructor(target: NetConnectOpts, onClose: () => void) {
    this.#socket = connect({
      ...target,
      noDelay: true,
      onread: {
        buffer: () => {
          this.#direct = this.#reader.directRoom();
          return this.#direct ?? this.#scratch;
        },
        callback: (bytes) => this.#received(bytes),
      },
    });
    this.#socket.write(HELLO);
    this.#socket.on('error', (error) => {
      this.#failure ??= error;
    });
    this.#socket.on('end', () => this.#socket.destroy());
    this.#socket.on('close', () => {
      onClose();
      this.#lost();
    });
  }

  /** Whether it takes another request. */
  get usable(): boolean {
    return !this.#retired && !this.#socket.destroyed;
  }

  /**
   * Sends a request: a block of {@link encodeHeaders} and a body of at least one byte. The function that is
   * returned abandons the answer.
   */
  request(headers: Buffer, body: readonly Uint8Array[], reader: StreamReader): Cancel {
    const message = new OutgoingMessage(body);
    const stream: Stream = { state: 'waiting', reader, headers, message, id: 0, window: 0 };
    this.#waiting.push(stream);
    this.#write(() => this.#openStreams());
    return (onEnd) => {
      if (stream.state === 'sent' && onEnd) {
        stream.reader = new DroppedAnswer(onEnd);
        return;
      }
      if (stream.state === 'waiting') removeFrom(this.#waiting, stream);
      else if (stream.state !== 'ended') this.#write(() => this.#forget(stream, Http2Code.CANCEL));
      stream.state = 'ended';
      onEnd?.();
    };
  }

  /** Takes no more requests; ends when what is in flight has been answered. */
  retire(): void {
    this.#retired = true;
    if (this.#streams.length === 0 && this.#waiting.length === 0) this.#socket.end();
  }

  /** Ends at once; what is in flight fails. */
  destroy(): void {
    this.#socket.destroy();
  }

  #received(bytes: number): boolean {
    this.#write(() => {
      try {
        if (this.#direct) this.#reader.directFilled(bytes);
        else this.#reader.push(this.#scratch.subarray(0, bytes));
      } catch (error) {
        this.#socket.destroy(error as Error);
      }
    });
    return true;
  }

  /** What is written by `work` goes out together. */
  #write(work: () => void): void {
    this.#socket.cork();
    work();
    this.#socket.uncork();
  }

  #openStreams(): void {
    if (this.#state !== 'open') return;
    while (this.#streams.length < this.#peer.streams) {
      const stream = this.#waiting.shift();
      if (!stream) return;
      stream.id = this.#nextStream;
      this.#nextStream += 2;
      if (this.#nextStream > LAST_STREAM) this.#retired = true;
      stream.window = this.#peer.window;
      stream.state = 'sending';
      this.#streams.push(stream);
      this.#sending.push(stream);
      const head = { type: FrameType.HEADERS, flags: Flag.END_HEADERS, stream: stream.id };
      this.#socket.write(frame(head, stream.headers));
      this.#send(stream);
    }
  }

  #stream(id: number): Stream | undefined {
    return this.#streams.find((stream) => stream.id === id);
  }

  #sendMore(): void {
    for (const stream of [...this.#sending]) this.#send(stream);
  }

  /** Sends as much of the message as the windows allow. */
  #send(stream: Stream): void {
    const { message } = stream;
    while (message.left > 0) {
      const bytes = Math.min(message.left, this.#peer.frame, this.#sendWindow, stream.window);
      if (bytes <= 0) return;
      this.#sendWindow -= bytes;
      stream.window -= bytes;
      const pieces = message.take(bytes);
      const flags = message.left === 0 ? Flag.END_STREAM : 0;
      this.#socket.write(frameHeader(bytes, { type: FrameType.DATA, flags, stream: stream.id }));
      for (const piece of pieces) this.#socket.write(piece);
    }
    stream.state = 'sent';
    removeFrom(this.#sending, stream);
  }

  /** The connection itself, and what was opened here at any time: the server opens none (section 5.1). */
  knows(id: number): boolean {
    return id === 0 || (id % 2 === 1 && id < this.#nextStream);
  }

  data(id: number, piece: Buffer): void {
    this.#opens(piece.length);
    this.#stream(id)?.reader.data(piece);
  }

  room(id: number): Buffer | undefined {
    return this.#stream(id)?.reader.room();
  }

  filled(id: number, bytes: number): void {
    this.#opens(bytes);
    this.#stream(id)?.reader.filled(bytes);
  }

  /** Reopens the connection's window for the server. A stream's own is never used up by one message. */
  #opens(bytes: number): void {
    this.#receivedBytes += bytes;
    if (this.#receivedBytes < WINDOW_UPDATE_BYTES) return;
    this.#socket.write(numberFrame(FrameType.WINDOW_UPDATE, 0, this.#receivedBytes));
    this.#receivedBytes = 0;
  }

  frame(head: FrameHead, payload: Buffer): void {
    if (this.#headerBlock.length > 0 && head.type !== FrameType.CONTINUATION) {
      throw new Http2ProtocolError('headers that are not continued');
    }
    if (head.type === FrameType.DATA) this.#endStream(head);
    else this.#control(head, payload);
  }

  #control(head: FrameHead, payload: Buffer): void {
    const { type, stream } = head;
    if (type === FrameType.HEADERS) this.#headers(head, withoutPadding(head, payload));
    else if (type === FrameType.CONTINUATION) this.#headers(head, payload);
    else if (type === FrameType.SETTINGS) this.#settings(head, payload);
    else if (type === FrameType.WINDOW_UPDATE) this.#windowUpdate(stream, number31(payload, 0));
    else if (type === FrameType.PING) this.#ping(head, payload);
    else if (type === FrameType.RST_STREAM) this.#reset(stream, payload.readUInt32BE(0));
    else if (type === FrameType.GOAWAY) this.#goAway(number31(payload, 0), payload.readUInt32BE(4));
    else if (type === FrameType.PUSH_PROMISE) {
      throw new Http2ProtocolError('the server pushes, unasked');
    }
    // Unknown types are to be ignored (section 4.1).
  }

  #ping(head: FrameHead, payload: Buffer): void {
    if (head.flags & Flag.ACK) return;
    this.#socket.write(frame({ ...head, flags: Flag.ACK }, payload));
  }

  #headers(head: FrameHead, block: Buffer): void {
    if (head.type === FrameType.HEADERS) this.#headerStart = head;
    if ((head.flags & Flag.END_HEADERS) === 0) {
      this.#headerBlock.push(Buffer.from(block));
      return;
    }
    const fields = this.#decoder.decode(Buffer.concat([...this.#headerBlock, block]));
    this.#headerBlock = [];
    this.#stream(head.stream)?.reader.headers(fields);
    if (this.#headerStart) this.#endStream(this.#headerStart);
  }

  #endStream({ flags, stream: id }: FrameHead): void {
    const stream = this.#stream(id);
    if ((flags & Flag.END_STREAM) === 0 || !stream) return;
    this.#forget(stream, Http2Code.NO_ERROR);
    stream.reader.end();
  }

  #settings({ flags }: FrameHead, payload: Buffer): void {
    if (flags & Flag.ACK) return;
    if (this.#state === 'greeting') this.#state = 'open';
    for (const entry of settingsIn(payload)) this.#setting(entry);
    this.#socket.write(frame({ type: FrameType.SETTINGS, flags: Flag.ACK, stream: 0 }, NOTHING));
    this.#openStreams();
    this.#sendMore();
  }

  #setting([id, value]: SettingEntry): void {
    if (id === Setting.MAX_FRAME_SIZE) this.#peer.frame = value;
    if (id === Setting.MAX_CONCURRENT_STREAMS) this.#peer.streams = value;
    if (id !== Setting.INITIAL_WINDOW_SIZE) return;
    for (const stream of this.#streams) stream.window += value - this.#peer.window;
    this.#peer.window = value;
  }

  #windowUpdate(id: number, bytes: number): void {
    const stream = this.#stream(id);
    if (id === 0) this.#sendWindow += bytes;
    else if (stream) stream.window += bytes;
    this.#sendMore();
  }

  #reset(id: number, code: number): void {
    const stream = this.#stream(id);
    if (!stream) return;
    const wasSent = stream.state === 'sent' && code !== Http2Code.REFUSED_STREAM;
    this.#forget(stream);
    const cause = new Error(`the server reset the stream with HTTP/2 code ${code}`);
    stream.reader.failed(cause, wasSent);
  }

  #goAway(last: number, code: number): void {
    this.#retired = true;
    const reason = new Error(`the server is closing the connection, HTTP/2 code ${code}`);
    const refused = this.#streams.filter(({ id }) => id > last);
    const unsent = this.#waiting.splice(0);
    for (const stream of refused) this.#forget(stream);
    for (const stream of [...refused, ...unsent]) {
      stream.state = 'ended';
      stream.reader.failed(reason, false);
    }
    this.retire();
  }

  /** Ends a stream here; where the request has not gone out whole or is given up, on the server too. */
  #forget(stream: Stream, code?: number): void {
    removeFrom(this.#streams, stream);
    removeFrom(this.#sending, stream);
    const isUnsent = stream.state === 'sending';
    stream.state = 'ended';
    if (code !== undefined && (isUnsent || code !== Http2Code.NO_ERROR)) {
      this.#socket.write(numberFrame(FrameType.RST_STREAM, stream.id, Http2Code.CANCEL));
    }
    this.#openStreams();
    if (this.#retired) this.retire();
  }

  #lost(): void {
    this.#state = 'lost';
    this.#retired = true;
    const cause = this.#failure ?? new Error('the connection was closed');
    const failed = [...this.#streams.splice(0), ...this.#waiting.splice(0)];
    this.#sending.length = 0;
    for (const stream of failed) {
      const wasSent = stream.state === 'sent';
      stream.state = 'ended';
      stream.reader.failed(cause, wasSent);
    }
  }
}

/** Reads what nobody waits for any more. */
class DroppedAnswer implements StreamReader {
  readonly #onEnd: () => void;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  headers(): void {}

  data(): void {}

  room(): undefined {
    return undefined;
  }

  filled(): void {}

  end(): void {
    this.#onEnd();
  }

  failed(): void {
    this.#onEnd();
  }
}

const NOTHING = Buffer.alloc(0);

/** Numbers of 31 bits follow a reserved one. */
function number31(payload: Buffer, offset: number): number {
  return payload.readUInt32BE(offset) & 0x7fffffff;
}

/** The block of a HEADERS frame without padding and priority (section 6.2). */
function withoutPadding({ flags }: FrameHead, payload: Buffer): Buffer {
  const padded = (flags & Flag.PADDED) !== 0;
  const start = (padded ? 1 : 0) + (flags & Flag.PRIORITY ? 5 : 0);
  const end = payload.length - (padded ? payload.readUInt8(0) : 0);
  if (start > end) throw new Http2ProtocolError('headers with padding without end');
  return payload.subarray(start, end);
}
