/** From an object to its row: read, asked about, tried again where that may help. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { S3Client } from '@aws-sdk/client-s3';
import { answerLine, answersOf, mayHelpToRetry, waitAfter } from '@sagemaker-tfs/batch';
import { httpStatusOf, type S3Object } from '@sagemaker-tfs/batch/s3';
import { RUNTIME_ERRORS } from '@sagemaker-tfs/tensors/runtime-errors';
import pLimit from 'p-limit';
import { ServingError } from '../errors.ts';
import { isHttpError } from '../handler/http-error.ts';
import type { Caution } from './caution.ts';
import type { Row } from './part-writer.ts';
import { readObject } from './store.ts';

/** What a row is made with. */
export interface AnswerOptions {
  readonly s3: S3Client;
  readonly bucket: string;
  /** What names leave out of the keys. */
  readonly root: string;
  /** @throws ServingError, HttpError */
  ask(body: Uint8Array): Promise<Uint8Array>;
  /** Questions at once. */
  readonly inFlight: number;
  /** Largest object that is read. */
  readonly maxBytes: number;
  /** Keys that ended the process before: they are not tried again. */
  readonly poison: ReadonlySet<string>;
  /** While it is on, a model that goes went because of the one object that is asked about. */
  readonly caution: Caution;
  /** Counts bytes that are held until the row is taken. */
  readonly hold: (bytes: number) => void;
}

/** Thrown if the model stays away through all retries while many objects are under way: any of them may be the cause. */
export class ModelGone extends Error {}

/** Tries after the first. */
const RETRIES = 3;
/** Tries after the first while the model is away. */
const AWAY_RETRIES = 6;

/**
 * Makes rows.
 * @returns a function that throws ModelGone, and what S3 answers beyond "not there" and "forbidden"
 */
export function rowMaker(options: AnswerOptions): (object: S3Object) => Promise<Row> {
  const { s3, bucket, root, maxBytes, poison, hold } = options;
  const limit = pLimit(options.inFlight);
  return async ({ key, size }) => {
    const name = key.slice(root.length);
    const failed = (code: string, message: string) => failedRow(key, name, code, message);
    if (poison.has(key))
      return failed('PROCESS_GONE', 'the process ended while it was at this object');
    if (size > maxBytes) {
      return failed('REQUEST_TOO_LARGE', `${size} bytes are over SAGEMAKER_TFS_MAX_REQUEST_BYTES`);
    }
    hold(size);
    try {
      const body = await readObject(s3, { bucket, key });
      if (!body) return { key, name: undefined, lines: '' };
      const answer = await limit(() => options.caution.during(key, () => askAgain(options, body)));
      const lines = answersOf(name, answer).map(answerLine).join('');
      hold(lines.length);
      return { key, name, lines };
    } catch (error) {
      const failure = failureOf(error);
      if (!failure) throw error;
      return failed(failure.code, failure.message);
    } finally {
      hold(-size);
    }
  };
}

function failedRow(key: string, name: string, code: string, told: string): Row {
  const message = told.slice(0, 1_000);
  const json = JSON.stringify({ code, message });
  const lines = answerLine({ key: name, json, isError: true });
  return { key, name, lines, failure: { code, message } };
}

/** What is the object's own fault; undefined for what ends the worker. */
function failureOf(error: unknown): { code: string; message: string } | undefined {
  if (error instanceof ServingError) return error;
  if (isHttpError(error)) return { code: error.code, message: error.message };
  // Encrypted with a key that this role may not use, or with an access rule of its own.
  if (httpStatusOf(error) === 403) return { code: 'FORBIDDEN', message: (error as Error).message };
  return undefined;
}

async function askAgain(options: AnswerOptions, body: Uint8Array) {
  for (let tries = 0; ; tries++) {
    try {
      return await options.ask(body);
    } catch (error) {
      if (!(error instanceof ServingError) && !isHttpError(error)) throw error;
      const isAway = error instanceof ServingError && RUNTIME_ERRORS[error.code].modelAway;
      if (!isAway && !mayHelpToRetry(error.status)) throw error;
      if (tries < (isAway ? AWAY_RETRIES : RETRIES)) {
        await sleep(waitAfter(tries + 1));
      } else if (isAway && !options.caution.isOn()) {
        throw new ModelGone(error.message, { cause: error });
      } else {
        throw error;
      }
    }
  }
}
