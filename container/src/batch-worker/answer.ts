/** Asks the model about an object, and tries again where that may help. */
import { setTimeout as sleep } from 'node:timers/promises';
import { answerLine, answersOf, mayHelpToRetry, waitAfter } from '@sagemaker-tfs/batch';
import { RUNTIME_ERRORS } from '@sagemaker-tfs/tensors/runtime-errors';
import pLimit from 'p-limit';
import { ServingError } from '../errors.ts';
import { isHttpError } from '../handler/http-error.ts';
import { HandlerHangs, type WholeAnswer } from './ask.ts';
import type { Caution } from './caution.ts';
import type { NamedObject } from './row.ts';

/** How answers are made. */
interface AnswerOptions {
  /** @throws ServingError, HttpError */
  ask(body: Uint8Array): Promise<WholeAnswer>;
  /** Questions at once. */
  readonly inFlight: number;
  /** While one object is alone under way, a model that goes went because of it. */
  readonly caution: Caution;
}

/** Thrown if the model stays away through all retries while many objects are under way: any of them may be the cause. */
export class ModelGone extends Error {}

/** Tries after the first. */
const RETRIES = 3;
/** Tries after the first while the model is away. */
const AWAY_RETRIES = 6;

/**
 * Makes the lines of an object's answers.
 * @returns a function that throws ServingError, HttpError, ModelGone
 */
export function answerLines(options: AnswerOptions): (object: NamedObject) => Promise<string> {
  const limit = pLimit(options.inFlight);
  return async ({ key, name, body }) => {
    const { body: bytes, contentType } = await limit(() =>
      options.caution.during(key, () => askAgain(options, body)),
    );
    return linesOf(name, bytes, contentType);
  };
}

/** Bytes of an answer, and characters of its lines, that an object may have: a string of V8 takes twice as many. */
const MAX_ANSWER = 2 ** 28;

/** @throws ServingError RESPONSE_TOO_LARGE */
function linesOf(name: string, bytes: Uint8Array, contentType?: string): string {
  if (bytes.byteLength > MAX_ANSWER) throw tooLarge(`${bytes.byteLength} bytes`);
  const lines = answersOf(name, bytes, contentType).map(answerLine);
  const characters = lines.reduce((sum, line) => sum + line.length, 0);
  if (characters > MAX_ANSWER) throw tooLarge(`${characters} characters in lines with its key`);
  return lines.join('');
}

function tooLarge(size: string): ServingError {
  return new ServingError(
    'RESPONSE_TOO_LARGE',
    `the answer has ${size}, and a worker takes ${MAX_ANSWER} of an object. Divide the object, or ask for fewer outputs.`,
  );
}

async function askAgain(options: AnswerOptions, body: Uint8Array) {
  for (let tries = 0; ; tries++) {
    try {
      return await options.ask(body);
    } catch (error) {
      if (!(error instanceof ServingError) && !isHttpError(error)) throw error;
      // It would take as long again.
      if (error instanceof HandlerHangs) throw error;
      const isAway = error instanceof ServingError && RUNTIME_ERRORS[error.code].modelAway;
      if (!isAway && !mayHelpToRetry(error.status)) throw error;
      if (tries < (isAway ? AWAY_RETRIES : RETRIES)) {
        await sleep(waitAfter(tries + 1));
      } else if (isAway && !options.caution.isAlone()) {
        throw new ModelGone(error.message, { cause: error });
      } else {
        throw error;
      }
    }
  }
}
