/** Honest clients: each sends its requests one after another and compares what comes back with what should. */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Question } from './question.ts';
import type { Tally } from './tally.ts';

/** A client that waits longer for an answer counts it as lost, in ms. */
const PATIENCE_MS = 30_000;
/** After a refusal, in ms. */
const PAUSE_MS = 20;

/**
 * Sends one request. A kept connection that ends before an answer begins is one that the server closed meanwhile: as
 * all clients do, this one sends the request again on a new connection.
 */
export function ask(
  url: string,
  question: Omit<Question, 'golden'>,
  agent: Agent | false,
): Promise<Answer> {
  return new Promise((resolve) => {
    const headers = {
      ...question.headers,
      'Content-Type': question.contentType,
      'Content-Length': question.body.byteLength,
    };
    const options = { method: 'POST', agent, headers };
    const sent = request(`${url}${question.path}`, options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      response.on('end', () => settle({ status: response.statusCode ?? 0, text }));
      response.on('error', ({ message }) => settle({ lost: `in the answer: ${message}` }));
    });
    const timer = setTimeout(() => {
      settle({ lost: `no answer in ${PATIENCE_MS / 1000} s` });
      sent.destroy();
    }, PATIENCE_MS);
    const settle = (answer: Answer) => {
      clearTimeout(timer);
      resolve(answer);
    };
    sent.on('error', ({ message }) => {
      if (!sent.reusedSocket) return settle({ lost: message });
      clearTimeout(timer);
      resolve(ask(url, question, false));
    });
    sent.end(question.body);
  });
}

/** Clients at work. */
export interface Clients {
  /** Lets every one finish the request it is at. */
  stop(): Promise<void>;
}

/** How many clients, and of what kind. */
export interface ClientOptions {
  readonly url: string;
  readonly questions: readonly Question[];
  readonly count: number;
  /** `kept`: all keep their connection. Default: every other one opens a connection for each request. */
  readonly connections?: 'kept' | 'mixed';
}

/** Starts clients that continue until they are stopped. */
export function startClients(options: ClientOptions, tally: Tally): Clients {
  const { url, questions, count, connections = 'mixed' } = options;
  const agent = new Agent({ keepAlive: true });
  let isOver = false;
  const client = async (index: number) => {
    const isKept = connections === 'kept' || index % 2 === 0;
    for (let at = index; !isOver; at++) {
      const question = questions[at % questions.length] as Question;
      const since = performance.now();
      const answer = await ask(url, question, isKept ? agent : false);
      const verdict = tally.count(question, answer, since);
      if (verdict !== 'right') await sleep(PAUSE_MS);
    }
  };
  const working = Promise.all(Array.from({ length: count }, (_, index) => client(index)));
  return {
    async stop() {
      isOver = true;
      await working;
      agent.destroy();
    },
  };
}
