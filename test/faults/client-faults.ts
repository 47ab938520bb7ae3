/** Clients that are slow, rude or hostile, and too many of them, beside honest ones. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault, Ground } from './ground.ts';
import type { Question } from './question.ts';
import { type RawAnswer, readAnswers } from './raw-answers.ts';

/** Of the runtime with slow clients: long enough that an honest one on a busy machine is not taken for one. */
export const CLIENT_PATIENCE_SECONDS = 3;
/** Right answers at the end: nothing is left of the attack. */
const AFTER = 40;
/** Sockets of one attack at a time. */
const ATTACKERS = 16;
/** A connection that answers nothing for so long counts as lost, in ms. */
const PATIENCE_MS = 30_000;

/** Opens sockets, has them misbehave until the runtime has lost patience and `times` seconds more, and closes them. */
function beside(name: string, misbehave: (socket: Socket, ground: Ground) => void): Fault {
  return {
    name,
    keepsPing: true,
    async happen(ground) {
      const { served, tally, times } = ground;
      const sockets = Array.from({ length: ATTACKERS }, () => {
        const socket = connect(served.port, '127.0.0.1');
        socket.on('error', () => undefined);
        misbehave(socket, ground);
        return socket;
      });
      await sleep(1_000 * (CLIENT_PATIENCE_SECONDS + times));
      for (const socket of sockets) socket.destroy();
      tally.fault();
      await tally.untilRight(AFTER);
    },
  };
}

/** A byte now and then. */
export const dribbling = beside('clients that dribble', (socket) => {
  socket.write(head({ 'Content-Type': 'application/json', 'Content-Length': 1_000_000 }));
  const timer = setInterval(() => socket.write(' '), 200);
  socket.once('close', () => clearInterval(timer));
});

/** Many requests, and no look at their answers. */
export const neverReading = beside('clients that never read', (socket, { questions }) => {
  const message = requestOf(questions.at(-1) as Question);
  socket.pause();
  for (let index = 0; index < 20; index++) socket.write(message);
});

/** Gone in the middle of a request, or as soon as it is sent. */
export const disconnecting: Fault = {
  name: 'clients that disconnect',
  keepsPing: true,
  async happen({ served, tally, questions, times }) {
    for (let round = 0; round < 15 * times; round++) {
      const gone = Array.from({ length: ATTACKERS }, async (_, index) => {
        const message = requestOf(questions[index % questions.length] as Question);
        const socket = connect(served.port, '127.0.0.1').on('error', () => undefined);
        const part = index % 3 === 0 ? message.length : Math.floor(message.length / 2);
        socket.write(message.subarray(0, part));
        await sleep(10 * (index % 4));
        if (index % 2 === 0) socket.resetAndDestroy();
        else socket.destroy();
      });
      await Promise.all(gone);
    }
    tally.fault();
    await tally.untilRight(AFTER);
  },
};

/** Several requests in one write: as many answers, in their order. */
export const pipelining: Fault = {
  name: 'clients that pipeline',
  keepsPing: true,
  async happen({ served, tally, questions, times }) {
    for (let round = 0; round < 5 * times; round++) {
      const answers = await exchange(
        served.port,
        Buffer.concat(questions.map(requestOf)),
        questions.length,
      );
      const since = performance.now();
      for (const [index, question] of questions.entries()) {
        tally.count(question, answers[index] ?? { lost: 'no answer to a pipelined one' }, since);
      }
      if (answers.length > questions.length) tally.add('wrong', () => 'more answers than requests');
    }
    tally.fault();
    await tally.untilRight(AFTER);
  },
};

/** Requests whose end is not where another server might see it. */
export const smuggling: Fault = {
  name: 'clients that smuggle',
  keepsPing: true,
  async happen({ served, tally, questions, times }) {
    const hidden = requestOf(questions[0] as Question);
    for (let round = 0; round < 2 * times; round++) {
      for (const fields of SMUGGLED) {
        const message = Buffer.concat([
          Buffer.from(`POST /invocations HTTP/1.1\r\nHost: x\r\n${fields}\r\n\r\n0\r\n\r\n`),
          hidden,
        ]);
        const answers = await exchange(served.port, message, 2);
        const [first] = answers;
        const isRefused = answers.length === 1 && REFUSALS.includes(first?.status ?? 0);
        tally.add(isRefused ? 'refused' : first ? 'wrong' : 'lost', () => {
          return `${JSON.stringify(fields)} got ${JSON.stringify(answers)}`;
        });
      }
    }
    tally.fault();
    await tally.untilRight(AFTER);
  },
};

/** Wrong framing, and a transfer coding that is not known. */
const REFUSALS = [400, 415];

const SMUGGLED = [
  'Content-Length: 5\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nContent-Length: 5',
  'Content-Length: 5\r\nContent-Length: 6',
  'Content-Length: 5, 6',
  'Content-Length: +5',
  'Content-Length: 0x5',
  'Transfer-Encoding : chunked',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding: xchunked',
  'X: y\nTransfer-Encoding: chunked',
];

/** New connections, until there is no descriptor left. Who is connected is served. */
export const descriptorsUsedUp: Fault = {
  name: 'file descriptors used up',
  connections: 'kept',
  async happen({ served, tally, times }) {
    const sockets = Array.from({ length: 400 }, () =>
      connect(served.port, '127.0.0.1').on('error', () => undefined),
    );
    await sleep(1_000 * times);
    for (const socket of sockets) socket.destroy();
    tally.fault();
    await tally.untilRight(AFTER);
  },
};

/** More clients at a time than requests are let in. `/ping` must answer all the while. */
export function overload(factor: number, limit: number): Fault {
  return {
    name: `overload, ${factor} times what is let in`,
    keepsPing: true,
    clients: factor * limit,
    async happen({ served, tally, overloadMs }) {
      const end = performance.now() + overloadMs;
      while (performance.now() < end) {
        const status = await fetch(`${served.url}/ping`, {
          signal: AbortSignal.timeout(PATIENCE_MS),
        }).then(
          async (response) => {
            await response.arrayBuffer();
            return response.status;
          },
          () => 0,
        );
        tally.add(status === 200 ? 'right' : status === 0 ? 'lost' : 'wrong', () => {
          return `/ping: ${status}`;
        });
        await sleep(100);
      }
      tally.fault();
      await tally.untilRight(AFTER);
    },
  };
}

/** Sends bytes and reads what comes, until `most` answers or the end of the connection. */
async function exchange(port: number, message: Buffer, most: number): Promise<RawAnswer[]> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  const chunks: Buffer[] = [];
  const closed = once(socket, 'close');
  const timer = setTimeout(() => socket.destroy(), PATIENCE_MS);
  socket.on('data', (chunk) => {
    chunks.push(chunk);
    if (readAnswers(Buffer.concat(chunks)).length >= most) socket.destroy();
  });
  socket.write(message);
  await closed;
  clearTimeout(timer);
  return readAnswers(Buffer.concat(chunks));
}

function requestOf({ path, contentType, body }: Question): Buffer {
  const fields = { 'Content-Type': contentType, 'Content-Length': body.byteLength };
  return Buffer.concat([Buffer.from(head(fields, path)), body]);
}

function head(fields: Readonly<Record<string, string | number>>, path = '/invocations'): string {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\nHost: x\r\n${lines.join('')}\r\n`;
}
