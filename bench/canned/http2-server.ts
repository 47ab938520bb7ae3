/**
 * The server's side of HTTP/2 for unary calls, so that the canned model server sends large replies as TensorFlow
 * Serving's own gRPC does: in frames as large as the client takes, and reading all the while. node:http2 sends
 * frames of 16 KiB, which would be the benchmark's bottleneck.
 */
import { createServer, type Socket } from 'node:net';
import { giveBytes, takeBytes } from '../../container/src/memory/byte-pool.ts';
import { type FrameHandler, FrameReader } from '../../container/src/transport/grpc/frame-reader.ts';
import {
  CONNECTION_PREFACE,
  Flag,
  type FrameHead,
  FrameType,
  frame,
  frameHeader,
  numberFrame,
} from '../../container/src/transport/grpc/frames.ts';
import { encodeHeaders, HeaderDecoder } from '../../container/src/transport/grpc/hpack.ts';
import { OutgoingMessage } from '../../container/src/transport/grpc/outgoing-message.ts';
import {
  FIRST_FRAME_BYTES,
  FIRST_WINDOW_BYTES,
  greeting,
  MOST_FRAME_BYTES,
  Setting,
  settingsIn,
  WINDOW_UPDATE_BYTES,
} from '../../container/src/transport/grpc/settings.ts';

/** What a method answers: a message in pieces, or undefined if there is no such method. */
export type Answer = (path: string, body: Buffer) => readonly Uint8Array[] | undefined;

const HELLO = greeting();
const HEADERS = encodeHeaders([
  [':status', '200'],
  ['content-type', 'application/grpc'],
]);
const TRAILERS = encodeHeaders([['grpc-status', '0']]);
const UNIMPLEMENTED = encodeHeaders([
  [':status', '200'],
  ['content-type', 'application/grpc'],
  ['grpc-status', '12'],
]);

/** Serves on a port or the path of a Unix domain socket. */
export function serveHttp2(answer: Answer, address: number | string): void {
  createServer({ noDelay: true }, (socket) => new Connection(socket, answer)).listen(address);
}

interface Stream {
  readonly id: number;
  readonly path: string;
  readonly body: Buffer[];
  message: OutgoingMessage | undefined;
  window: number;
}

class Connection implements FrameHandler {
  readonly #socket: Socket;
  readonly #answer: Answer;
  readonly #reader = new FrameReader(this, MOST_FRAME_BYTES);
  readonly #decoder = new HeaderDecoder();
  readonly #streams = new Map<number, Stream>();
  readonly #peer = { window: FIRST_WINDOW_BYTES, frame: FIRST_FRAME_BYTES };
  #preface = CONNECTION_PREFACE.length;
  #window = FIRST_WINDOW_BYTES;
  #received = 0;

  constructor(socket: Socket, answer: Answer) {
    this.#socket = socket;
    this.#answer = answer;
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => this.#read(chunk));
    socket.write(HELLO);
  }

  #read(chunk: Buffer): void {
    const skipped = Math.min(this.#preface, chunk.length);
    this.#preface -= skipped;
    this.#socket.cork();
    this.#reader.push(chunk.subarray(skipped));
    this.#socket.uncork();
  }

  data(id: number, piece: Buffer): void {
    // Every chunk of a socket without `onread` is memory of its own.
    this.#streams.get(id)?.body.push(piece);
    this.#received += piece.length;
    if (this.#received < WINDOW_UPDATE_BYTES) return;
    this.#socket.write(numberFrame(FrameType.WINDOW_UPDATE, 0, this.#received));
    this.#received = 0;
  }

  room(): undefined {
    return undefined;
  }

  filled(): void {}

  frame(head: FrameHead, payload: Buffer): void {
    const { type, flags, stream: id } = head;
    if (type === FrameType.HEADERS) this.#open(head, payload);
    if (type === FrameType.SETTINGS && (flags & Flag.ACK) === 0) this.#settings(payload);
    if (type === FrameType.PING && (flags & Flag.ACK) === 0) {
      this.#socket.write(frame({ ...head, flags: Flag.ACK }, payload));
    }
    if (type === FrameType.RST_STREAM) this.#streams.delete(id);
    if (type === FrameType.WINDOW_UPDATE) this.#opened(id, payload.readUInt32BE(0));
    const ends = type === FrameType.DATA || type === FrameType.HEADERS;
    if (ends && flags & Flag.END_STREAM) this.#reply(id);
  }

  /** Clients of benchmarks neither pad headers nor continue them. */
  #open({ flags, stream: id }: FrameHead, payload: Buffer): void {
    const block = flags & Flag.PRIORITY ? payload.subarray(5) : payload;
    const path = this.#decoder.decode(block)[':path'] ?? '';
    const window = this.#peer.window;
    this.#streams.set(id, { id, path, body: [], message: undefined, window });
  }

  #reply(id: number): void {
    const stream = this.#streams.get(id);
    if (!stream) return;
    const pieces = this.#answered(stream);
    const head = { type: FrameType.HEADERS, flags: Flag.END_HEADERS, stream: id };
    if (!pieces) {
      this.#streams.delete(id);
      this.#socket.write(frame({ ...head, flags: head.flags | Flag.END_STREAM }, UNIMPLEMENTED));
      return;
    }
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(
      pieces.reduce((sum, { byteLength }) => sum + byteLength, 0),
      1,
    );
    this.#socket.write(frame(head, HEADERS));
    stream.message = new OutgoingMessage([prefix, ...pieces]);
    this.#send(stream, stream.message);
  }

  /** The request's memory is used again: what the server does with its own is no part of what is measured. */
  #answered({ path, body }: Stream): readonly Uint8Array[] | undefined {
    const whole = takeBytes(body.reduce((sum, { length }) => sum + length, 0));
    let end = 0;
    for (const piece of body) {
      whole.set(piece, end);
      end += piece.length;
    }
    const pieces = this.#answer(path, whole.subarray(5));
    giveBytes(whole);
    return pieces;
  }

  #send(stream: Stream, message: OutgoingMessage): void {
    while (message.left > 0) {
      const bytes = Math.min(message.left, this.#peer.frame, this.#window, stream.window);
      if (bytes <= 0) return;
      this.#window -= bytes;
      stream.window -= bytes;
      this.#socket.write(frameHeader(bytes, { type: FrameType.DATA, flags: 0, stream: stream.id }));
      for (const piece of message.take(bytes)) this.#socket.write(piece);
    }
    this.#streams.delete(stream.id);
    const flags = Flag.END_HEADERS | Flag.END_STREAM;
    this.#socket.write(frame({ type: FrameType.HEADERS, flags, stream: stream.id }, TRAILERS));
  }

  #settings(payload: Buffer): void {
    for (const [id, value] of settingsIn(payload)) {
      if (id === Setting.MAX_FRAME_SIZE) this.#peer.frame = value;
      if (id !== Setting.INITIAL_WINDOW_SIZE) continue;
      for (const stream of this.#streams.values()) stream.window += value - this.#peer.window;
      this.#peer.window = value;
    }
    const ack = { type: FrameType.SETTINGS, flags: Flag.ACK, stream: 0 };
    this.#socket.write(frame(ack, Buffer.alloc(0)));
    this.#sendAll();
  }

  #opened(id: number, bytes: number): void {
    const stream = this.#streams.get(id);
    if (id === 0) this.#window += bytes;
    else if (stream) stream.window += bytes;
    this.#sendAll();
  }

  #sendAll(): void {
    for (const stream of this.#streams.values()) {
      if (stream.message) this.#send(stream, stream.message);
    }
  }
}
