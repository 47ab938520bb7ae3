/** A request until its connection is done with the answer, as those see it who may cut it. */
import type { ServerResponse } from 'node:http';
import { ServingError } from '../errors.ts';
import type { RequestSignal } from '../waiting/request-signal.ts';
import type { Ticket } from './admission.ts';
import { type Paced, type PaceLimits, type Pacer, pacer, type Waiting } from './client-pace.ts';
import type { ConnectionSource } from './connection-source.ts';
import type { Exchange } from './exchange.ts';
import { errorReply } from './reply.ts';
import type { ServerLog } from './server-log.ts';

/** A request that has no whole answer yet. */
export interface RequestInFlight {
  readonly requestId: string;
  readonly path: string;
  /** Since it arrived. */
  readonly seconds: number;
}

/** One of those. */
export interface InFlight {
  readonly signal: RequestSignal;
  readonly response: ServerResponse;
  readonly pacer: Pacer;
  readonly ticket: () => Ticket | undefined;
  /** Cuts an answer whose reader keeps it waiting while others need the room. */
  readonly giveUp: () => void;
  readonly cut: (error: ServingError) => RequestInFlight;
}

/** What the server knows besides. */
interface Surroundings {
  readonly options: { readonly log: ServerLog; readonly source?: ConnectionSource | undefined };
  readonly pace: PaceLimits;
}

/** Begins to count it. */
export function inFlightOf(
  exchange: Exchange,
  response: ServerResponse,
  ticket: () => Ticket | undefined,
  surroundings: Surroundings,
): InFlight {
  const { log, source } = surroundings.options;
  return {
    signal: exchange.signal,
    response,
    ticket,
    giveUp() {
      log.warn({ requestId: exchange.id }, 'the client reads its answer slowest of all: cut');
      exchange.signal.abort(tooMuchUnread());
      ticket()?.release();
      response.destroy();
    },
    pacer: pacer(pacedOf(exchange, response, ticket, surroundings), surroundings.pace),
    cut: cutter(exchange, response, source),
  };
}

/** A request as its client's pace is watched. */
function pacedOf(
  exchange: Exchange,
  response: ServerResponse,
  ticket: () => Ticket | undefined,
  { options, pace }: Surroundings,
): Paced {
  return {
    request: exchange.request,
    response,
    isBodyWanted: () => exchange.bodyAccepted,
    onSlow: () => ticket()?.expectNothing(),
    onTooSlow(waiting) {
      exchange.signal.abort(tooSlow(waiting, pace));
      if (waiting === 'body') return;
      options.log.warn({ requestId: exchange.id }, 'the client does not read its answer: cut');
      response.destroy();
    },
  };
}

/** What answers a request at once: the kernel takes so few bytes without waiting. */
function cutter(
  { id, request }: Exchange,
  response: ServerResponse,
  source: ConnectionSource | undefined,
): (error: ServingError) => RequestInFlight {
  const startedAt = performance.now();
  return (error) => {
    source?.answerBegan(request.socket);
    if (response.headersSent) response.destroy();
    else {
      const { status, headers, body } = errorReply(error);
      response.writeHead(status, { ...headers, Connection: 'close' });
      response.end(Buffer.concat(body));
    }
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    return { requestId: id, path: request.url ?? '', seconds };
  };
}

function tooSlow(waiting: Waiting, { minBytesPerSecond, patienceMs }: PaceLimits): ServingError {
  const what = waiting === 'body' ? 'the body came' : 'the answer was read';
  return new ServingError(
    'CLIENT_TOO_SLOW',
    `${what} at less than ${minBytesPerSecond} bytes a second for ${patienceMs / 1000} s (SAGEMAKER_TFS_MIN_CLIENT_BYTES_PER_SECOND, SAGEMAKER_TFS_CLIENT_PATIENCE_SECONDS).`,
  );
}

function tooMuchUnread(): ServingError {
  return new ServingError(
    'CLIENT_TOO_SLOW',
    'others need the room of answers that wait for their readers, and this one was read slowest (SAGEMAKER_TFS_MAX_HELD_BYTES, SAGEMAKER_TFS_MAX_REQUESTS_IN_FLIGHT). Read answers as they come.',
  );
}
