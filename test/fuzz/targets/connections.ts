/** Connections with a peer that says anything: the server to its clients, and both clients to the model server. */
import { mkdirSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { type Routes, readBody, startServer } from '@sagemaker-tfs/container/parts';
import {
  ConnectionLost,
  HttpConnection,
  UnaryChannel,
  UnusableReply,
} from '@sagemaker-tfs/container/transport';
import { StatusError } from '@sagemaker-tfs/tensors/status-error';
import pino from 'pino';
import { readAnswers } from '../../faults/raw-answers.ts';
import {
  answerOf,
  HIDDEN_PATH,
  REPLIES,
  REPLY_TOKENS,
  requestsOf,
  type Sent,
} from '../build/http1.ts';
import { serverBytes } from '../build/http2.ts';
import { pick, type Random } from '../random.ts';
import { Refused, type Target } from '../target.ts';
import { inPieces } from './messages.ts';
import { onRemove, scratch } from './scratch.ts';

/** A call that is not settled so long after the connection's end hangs, in ms. */
const PATIENCE_MS = 30_000;

async function inTime<T>(what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`hangs: ${what}`)), PATIENCE_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Listens on a socket in the scratch folder. */
async function listening(name: string, server: Server): Promise<string> {
  mkdirSync(scratch(), { recursive: true });
  const path = join(scratch(), name);
  await new Promise<void>((resolve) => server.listen(path, resolve));
  server.unref();
  onRemove(() => server.close());
  return path;
}

/** What a hostile server says next, to whoever connects and asks. */
interface Hostile {
  readonly path: string;
  says(pieces: readonly Buffer[]): void;
}

const hostiles = new Map<string, Promise<Hostile>>();

async function openHostile(name: string): Promise<Hostile> {
  let next: readonly Buffer[] = [];
  const server = createServer((socket) => {
    const pieces = next;
    socket.on('error', () => undefined);
    socket.once('data', () => {
      for (const piece of pieces) socket.write(piece);
      socket.end();
    });
    socket.resume();
  });
  const path = await listening(name, server);
  onRemove(() => hostiles.delete(name));
  return {
    path,
    says: (pieces) => {
      next = pieces;
    },
  };
}

function hostile(name: string): Promise<Hostile> {
  const known = hostiles.get(name) ?? openHostile(name);
  hostiles.set(name, known);
  return known;
}

function piecesOf(bytes: Buffer, random: Random): Buffer[] {
  const pieces: Buffer[] = [];
  inPieces(bytes, random, (piece) => pieces.push(piece));
  return pieces;
}

const MAX_REPLY_BYTES = 2 ** 20;
const isReplyError = (error: unknown): boolean =>
  error instanceof ConnectionLost || error instanceof StatusError || error instanceof UnusableReply;

async function callGrpc(bytes: Buffer, random: Random): Promise<string> {
  const server = await hostile('grpc');
  server.says(piecesOf(bytes, random));
  const channel = new UnaryChannel(
    { host: '127.0.0.1', port: 1, socket: server.path },
    { maxReplyBytes: MAX_REPLY_BYTES },
  );
  try {
    const call = channel.call({ path: '/s/m', message: [Buffer.from('ask')] });
    return (await inTime('a call over gRPC', call)).toString('base64');
  } finally {
    channel.close();
  }
}

async function askRest(bytes: Buffer, random: Random): Promise<string> {
  const server = await hostile('rest');
  server.says(piecesOf(bytes, random));
  const connection = new HttpConnection({ path: server.path });
  const taken: Buffer[] = [];
  const sink = {
    begin: () => undefined,
    room: () => undefined,
    filled: () => undefined,
    push: (piece: Buffer) => void taken.push(Buffer.from(piece)),
  };
  try {
    await inTime('a call over REST', connection.ask([Buffer.from('GET / HTTP/1.1\r\n\r\n')], sink));
    return Buffer.concat(taken).toString('base64');
  } finally {
    connection.destroy();
  }
}

interface Echo {
  readonly path: string;
  /** The server's side of the last connection. */
  socket(): Socket | undefined;
  /** Requests to the hidden path so far. */
  hidden(): number;
}

let echoes: Promise<Echo> | undefined;

const echo: Routes[string][string] = async ({ request, signal, admit }) => {
  admit(0);
  const body = await readBody(request, { maxBytes: 100_000, signal });
  return { status: 200, headers: {}, body: [Buffer.from(echoOf(body))] };
};

const echoOf = (body: Uint8Array): string => `${body.length} ${crc32(body)}`;

async function openEcho(): Promise<Echo> {
  let last: Socket | undefined;
  let hidden = 0;
  let take: (socket: Socket) => void = () => undefined;
  const gate = createServer({ pauseOnConnect: false }, (socket) => {
    last = socket;
    socket.on('error', () => undefined);
    take(socket);
  });
  const path = await listening('echo', gate);
  const idle = () => undefined;
  const onHidden = () => {
    hidden += 1;
    return { status: 200, headers: {}, body: [] };
  };
  await startServer(
    { '/echo': { GET: echo, POST: echo }, [HIDDEN_PATH]: { GET: onHidden } },
    {
      port: 0,
      address: '',
      timeoutMs: PATIENCE_MS,
      log: pino({ level: 'silent' }),
      source: {
        port: 0,
        start: (begin) => {
          take = begin;
        },
        stop: idle,
        requestBegan: idle,
        answerBegan: idle,
        requestDone: idle,
      },
    },
  );
  onRemove(() => {
    echoes = undefined;
  });
  return { path, socket: () => last, hidden: () => hidden };
}

/** What was sent, where the rules of HTTP made it. */
const known = new WeakMap<Buffer, Sent>();

/** Turns of the event loop in which nothing came: nothing will. */
const QUIET_TURNS = 24;

async function askServer(bytes: Buffer, random: Random): Promise<string> {
  echoes ??= openEcho();
  const server = await echoes;
  const hiddenBefore = server.hidden();
  const sent = known.get(bytes);
  const socket = connect(server.path);
  const received: Buffer[] = [];
  let isClosed = false;
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      isClosed = true;
      resolve();
    });
  });
  socket.on('error', () => undefined).on('data', (piece) => received.push(piece));
  inPieces(bytes, random, (piece) => socket.write(piece));
  if (sent?.isRight) await inTime('a connection that asks to be closed', closed);
  else
    await quiet(
      () => isClosed || received.length,
      () => isClosed || server.socket()?.bytesRead === bytes.length,
    );
  socket.destroy();
  const answers = readAnswers(Buffer.concat(received));
  check(sent, answers, server.hidden() - hiddenBefore);
  if (answers.length === 0 || answers.some(({ status }) => status >= 400)) throw new Refused();
  return answers.map(({ text }) => text).join();
}

/** Waits until all was read, and the state stays as it is. */
async function quiet(state: () => unknown, isRead: () => boolean): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  let last = state();
  for (let same = 0; same < QUIET_TURNS; ) {
    await turn();
    const now = state();
    same = now === last && (isRead() || performance.now() > end) ? same + 1 : 0;
    last = now;
    if (now === true) return;
  }
}

function check(
  sent: Sent | undefined,
  answers: ReturnType<typeof readAnswers>,
  hidden: number,
): void {
  const failed = answers.find(({ status }) => status >= 500);
  if (failed) throw new Error(`answered ${failed.status}: ${failed.text}`);
  if (!sent) return;
  const right = sent.bodies.map((body) => echoOf(Buffer.from(body, 'latin1')));
  const got = answers.slice(0, right.length).map(({ text }) => text);
  if (got.join() !== right.join())
    throw new Error(`answered ${got.join()}, right is ${right.join()}`);
  if (hidden > 0) throw new Error('a request inside another was answered');
  const more = answers.slice(right.length);
  if (more.some(({ status }) => status < 400)) throw new Error('what must be refused was answered');
}

/** The targets. */
export const CONNECTIONS: readonly Target[] = [
  {
    name: 'http-server',
    bytesPerByte: 64,
    seeds: async () => [
      Buffer.from('POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok'),
      Buffer.from(
        'POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
      ),
      Buffer.from('GET /echo HTTP/1.1\r\nHost: x\r\n\r\nGET /echo HTTP/1.0\r\n\r\n'),
    ],
    tokens: [
      '\r\n',
      '\n',
      ':',
      ' ',
      'Content-Length: ',
      'Transfer-Encoding: chunked\r\n',
      'Host: x\r\n',
      'Expect: 100-continue\r\n',
      'Connection: close\r\n',
      'Upgrade: h2c\r\n',
      '\0',
    ],
    build: (random) => {
      const sent = requestsOf(random);
      const bytes = Buffer.from(sent.text, 'latin1');
      known.set(bytes, sent);
      return bytes;
    },
    isRefusal: (error) => error instanceof Refused,
    read: askServer,
  },
  {
    name: 'rest-connection',
    bytesPerByte: 64,
    seeds: async () => REPLIES.map((reply) => Buffer.from(reply)),
    tokens: REPLY_TOKENS,
    build: (random) =>
      Buffer.from(answerOf(random, pick(random, ['ok', '', 'x'.repeat(9_000)])), 'latin1'),
    isRefusal: isReplyError,
    read: askRest,
  },
  {
    name: 'grpc-connection',
    bytesPerByte: 64,
    // The highest number of every range: nothing slips.
    seeds: async () => [serverBytes((limit) => limit - 1, Buffer.from('reply'))],
    tokens: ['\0\0\0\x04\0\0\0\0\0', '\0\0\x04\x08\0\0\0\0\0\0\0\0\x01', '\0\0\x08\x06\0\0\0\0\0'],
    build: (random) => serverBytes(random, Buffer.alloc(random(60))),
    isRefusal: isReplyError,
    read: callGrpc,
  },
];
