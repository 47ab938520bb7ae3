/** A request on its way, as those see it who answer it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestSignal } from '../waiting/request-signal.ts';
import type { Admission, Ticket } from './admission.ts';
import type { ServerLog } from './server-log.ts';

/** One request on its way. */
export interface Exchange {
  readonly request: IncomingMessage;
  /** Aborted when the client goes, the time limit passes, or the server must end. */
  readonly signal: RequestSignal;
  /** SageMaker's inference id, cut where it is long, or one of our own. */
  readonly id: string;
  /**
   * Counts this request among those in flight until its connection is done with it.
   * @param expected bytes that its body is announced to have; 0 where that is not known
   * @throws ServingError OVERLOADED
   */
  admit(expected: number): Ticket;
  /** Counts bytes that the request holds until its connection is done with it; not before it is admitted. */
  hold(bytes: number): void;
  /** Tells a client that waits (`Expect: 100-continue`) to send the body. */
  acceptBody(): void;
  /** False while the client still waits for that. */
  bodyAccepted: boolean;
  /** Called with the outcome once the answer is written or the client has gone. */
  onFinish(callback: (outcome: Outcome) => void): void;
  /** Called once the connection reads no more of the answer's bytes: all were sent, or it has gone. */
  onClosed(callback: () => void): void;
}

/** What became of a request. */
export interface Outcome {
  readonly status: number;
  /** Bytes of the body sent. */
  readonly bytes: number;
  readonly error: unknown;
}

/** Characters of a request's id that are kept; SageMaker's own are shorter. */
const MAX_ID_LENGTH = 128;

/** What an exchange is made with. */
interface ExchangeOptions {
  readonly signal: RequestSignal;
  /** How many requests came before it. */
  readonly number: number;
  /** Whether its client waits before it sends the body. */
  readonly expectsContinue: boolean;
  readonly admission: Admission;
  readonly log: ServerLog;
}

/** An exchange, with what only the server does with it. */
interface BegunExchange {
  readonly exchange: Exchange;
  /** Tells those who asked what became of the request. */
  finish(outcome: Outcome): void;
  /** Undefined until it is admitted. */
  ticket(): Ticket | undefined;
}

/** Begins an exchange. */
export function createExchange(
  request: IncomingMessage,
  response: ServerResponse,
  { signal, number, expectsContinue, admission, log }: ExchangeOptions,
): BegunExchange {
  const callbacks: ((outcome: Outcome) => void)[] = [];
  const given = request.headers['x-amzn-sagemaker-inference-id'];
  let ticket: Ticket | undefined;
  const exchange: Exchange = {
    request,
    signal,
    id: typeof given === 'string' ? given.slice(0, MAX_ID_LENGTH) : `${process.pid}-${number}`,
    admit(expected) {
      ticket = admission.admit(expected);
      return ticket;
    },
    hold: (bytes) => ticket?.hold(bytes),
    acceptBody() {
      if (!exchange.bodyAccepted) response.writeContinue();
      exchange.bodyAccepted = true;
    },
    bodyAccepted: !expectsContinue,
    onFinish: (callback) => callbacks.push(callback),
    onClosed: (callback) => void response.once('close', callback),
  };
  return {
    exchange,
    ticket: () => ticket,
    // Each is somebody's place or memory: one that fails must not keep the others from theirs.
    finish: (outcome) => {
      for (const callback of callbacks) {
        try {
          callback(outcome);
        } catch (err) {
          log.error({ requestId: exchange.id, err }, 'a request was not recorded');
        }
      }
    },
  };
}
