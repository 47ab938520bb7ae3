/**
 * The server's side of HTTP/2 for unary calls, so that the canned model server sends large replies as TensorFlow
 * Serving's own gRPC does: in frames as large as the client takes, and reading all the while. node:http2 sends
 * frames of 16 KiB, which would be the benchmark's bottleneck. Requests are read to where they stay, into memory that
 * the next ones use too: what the server does with its own is no part of what is measured, and shares the processors
 * with it.
 */
import { createServer, Socket, type SocketConstructorOpts } from 'node:net';
import {
  CONNECTION_PREFACE,
  encodeHeaders,
  FIRST_FRAME_BYTES,
  FIRST_WINDOW_BYTES,
  Flag,
  type FrameHandler,
  type FrameHead,
  FrameReader,
  FrameType,
  frame,
  frameHeader,
  giveBytes,
  greeting,
  HeaderDecoder,
  MAX_FRAME_BYTES,
  MessageAssembler,
  numberFrame,
  OutgoingMessage,
  Setting,
  settingsIn,
  WINDOW_UPDATE_BYTES,
} from '@sagemaker-tfs/container/transport';

/** What a method answers: a message in pieces, or undefined if there is no such method. */
export type Answer = (path: string, body: Buffer) => readonly Uint8Array[] | undefined;

const NOTHING = Buffer.alloc(0);
const MAX_REQUEST_BYTES = 2 ** 31;
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

/** For what is no content of a large message. */
const SCRATCH_BYTES = 262_144;

/** Serves on a port or the path of a Unix domain socket. */
export function serveHttp2(answer: Answer, address: number | string): void {
  createServer({ noDelay: true, pauseOnConnect: true }, (accepted) => {
    const { _handle: handle } = accepted as Socket & { readonly _handle: object };
    new Connection(handle, answer);
  }).listen(address);
}

interface Stream {
  readonly id: number;
  readonly path: string;
  readonly request: MessageAssembler;
  message: OutgoingMessage | undefined;
  window: number;
}

class Connection implements FrameHandler {
  readonly #socket: Socket;
  readonly #answer: Answer;
  readonly #reader = new FrameReader(this, MAX_FRAME_BYTES);
  readonly #decoder = new HeaderDecoder();
  readonly #streams = new Map<number, Stream>();
  readonly #peer = { window: FIRST_WINDOW_BYTES, frame: FIRST_FRAME_BYTES };
  readonly #scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  #direct: Buffer | undefined;
  #preface = CONNECTION_PREFACE.length;
  #window = FIRST_WINDOW_BYTES;
  #received = 0;

  /** @param handle of an accepted connection: only a socket that is made of it can be told where to read to */
  constructor(handle: object, answer: Answer) {
    const onread = {
      buffer: () => {
        this.#direct = this.#reader.directRoom();
        return this.#direct ?? this.#scratch;
      },
      callback: (bytes: number) => this.#read(bytes),
    };
    const options = { handle, readable: true, writable: true, onread };
    this.#socket = new Socket(options as SocketConstructorOpts);
    this.#answer = answer;
    this.#socket.on('error', () => this.#socket.destroy());
    this.#socket.on('end', () => this.#socket.destroy());
    this.#socket.write(HELLO);
  }

  #read(bytes: number): boolean {
    this.#socket.cork();
    if (this.#direct) this.#reader.directFilled(bytes);
    else {
      const skipped = Math.min(this.#preface, bytes);
      this.#preface -= skipped;
      this.#reader.push(this.#scratch.subarray(skipped, bytes));
    }
    this.#socket.uncork();
    return true;
  }

  data(id: number, piece: Buffer): void {
    this.#streams.get(id)?.request.push(piece);
    this.#opens(piece.length);
  }

  room(id: number): Buffer | undefined {
    return this.#streams.get(id)?.request.room;
  }

  filled(id: number, bytes: number): void {
    this.#streams.get(id)?.request.filled(bytes);
    this.#opens(bytes);
  }

  #opens(bytes: number): void {
    this.#received += bytes;
    if (this.#received < WINDOW_UPDATE_BYTES) return;
    this.#socket.write(numberFrame(FrameType.WINDOW_UPDATE, 0, this.#received));
    this.#received = 0;
  }

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
    const request = new MessageAssembler(MAX_REQUEST_BYTES);
    this.#streams.set(id, { id, path, request, message: undefined, window });
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

  #answered({ path, request }: Stream): readonly Uint8Array[] | undefined {
    const { complete } = request;
    const pieces = this.#answer(path, complete ?? NOTHING);
    if (complete) giveBytes(complete);
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
    this.#socket.write(frame(ack, NOTHING));
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
