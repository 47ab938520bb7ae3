/** The errors of calls that got no answer from the model server, or none that can be used. */
import { answerTooLarge } from '../answer-too-large.ts';
import { ServingError } from '../errors.ts';
import type { ConnectionLost } from '../transport/connection-lost.ts';
import type { UnusableReply } from '../transport/unusable-reply.ts';
import { howEnded, type ProcessEnd } from './process.ts';

/** A call that the model server never took. */
export function neverSent(error: ConnectionLost): ServingError {
  const message = `the model server takes no request: ${error.message}`;
  return new ServingError('MODEL_SERVER_GONE', message, { cause: error });
}

/** An answer that is larger than allowed, or none of the protocol. */
export function unusable(cause: UnusableReply, maxBytes: number): ServingError {
  if (!cause.isTooLarge) return new ServingError('INTERNAL', `${cause.message}.`, { cause });
  return answerTooLarge(cause.message, maxBytes, cause);
}

/** Calls that were joined, lost together: each is to be run alone. */
export function endedTogether(cause: ConnectionLost): ServingError {
  return new ServingError(
    'MODEL_SERVER_GONE',
    'the model server ended while it worked on a batch. See its last lines in the log.',
    { cause },
  );
}

/** A call that was lost twice. */
export function endedTwice(cause: ConnectionLost): ServingError {
  return new ServingError(
    'MODEL_SERVER_GONE',
    'the model server ended while it worked on the request, twice, the second time on this request alone, so it is not tried again. See its last lines in the log.',
    { cause },
  );
}

/** A call that waited for others, tried alone, longer than it may. */
export function hadNoTurn(trialMs: number): ServingError {
  return new ServingError(
    'MODEL_SERVER_GONE',
    `the model server ended while it worked on the request and others. Each is tried once more, alone, for ${trialMs / 1000} s in all, and this one has not had its turn. Send it again.`,
  );
}

/** A call that surely ended the model server. */
export function endsServer(end: ProcessEnd, cause: ConnectionLost): ServingError {
  const reason = end.fatal === undefined ? '' : ` over: ${end.fatal}`;
  return new ServingError(
    'FATAL_REQUEST',
    `the request ended the model server twice, the second time alone: it ${howEnded(end)}${reason}. Do not send it again: ask for less, or export a model that refuses such inputs.`,
    { cause },
  );
}
