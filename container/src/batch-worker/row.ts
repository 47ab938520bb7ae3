/** From an object to its row: read, and made into what stands for it in a part. */
import type { S3Client } from '@aws-sdk/client-s3';
import { answerLine, BatchError } from '@sagemaker-tfs/batch';
import { httpStatusOf, isOfCaller, type S3Object } from '@sagemaker-tfs/batch/s3';
import { ServingError } from '../errors.ts';
import { isHttpError } from '../handler/http-error.ts';
import type { Row } from './part-writer.ts';
import { readObject } from './store.ts';

/** What a row is made with. */
interface RowOptions {
  readonly s3: S3Client;
  readonly bucket: string;
  /** What names leave out of the keys. */
  readonly root: string;
  /** Largest object that is read. */
  readonly maxBytes: number;
  /** Keys that ended the process before: they are not tried again. */
  readonly poison: ReadonlySet<string>;
  /** Counts bytes that are held until the row is taken. */
  readonly hold: (bytes: number) => void;
  /** @throws ServingError, HttpError for what is the object's own fault */
  readonly make: (object: NamedObject) => Promise<string | Uint8Array>;
  /** True if an error has a line in the part. */
  readonly tellsErrors: boolean;
}

/** An object that was read. */
export interface NamedObject {
  readonly key: string;
  /** Key below the root. */
  readonly name: string;
  readonly body: Uint8Array;
}

/**
 * Makes rows.
 * @returns a function that throws ModelGone, and what S3 answers beyond "not there" and "forbidden"
 */
export function rowMaker(options: RowOptions): (object: S3Object) => Promise<Row> {
  const { s3, bucket, root, maxBytes, poison, hold, tellsErrors } = options;
  return async ({ key, size }) => {
    const name = key.slice(root.length);
    const failed = (code: string, told: string): Row => {
      const failure = { code, message: told.slice(0, 1_000) };
      const line = { key: name, json: JSON.stringify(failure), isError: true };
      return { key, name, body: tellsErrors ? answerLine(line) : '', failure };
    };
    if (poison.has(key))
      return failed(
        'PROCESS_GONE',
        'the process ended while it was at this object alone, or within a second of its answer',
      );
    if (size > maxBytes) {
      return failed('REQUEST_TOO_LARGE', `${size} bytes are over SAGEMAKER_TFS_MAX_REQUEST_BYTES`);
    }
    hold(size);
    try {
      const read = await readObject(s3, { bucket, key }, maxBytes);
      if (!read) return { key, name, body: '', isGone: true };
      const body = await options.make({ key, name, body: read });
      hold(body.length);
      return { key, name, body };
    } catch (error) {
      const failure = failureOf(error);
      if (!failure) throw error;
      return failed(failure.code, failure.message);
    } finally {
      hold(-size);
    }
  };
}

/** What is the object's own fault; undefined for what ends the worker. */
function failureOf(error: unknown): { code: string; message: string } | undefined {
  if (error instanceof ServingError) return error;
  // It has grown since it was listed.
  if (error instanceof BatchError && error.code === 'OBJECT_TOO_LARGE') {
    return { code: 'REQUEST_TOO_LARGE', message: error.message };
  }
  if (isHttpError(error)) return { code: error.code, message: error.message };
  // Encrypted with a key that this role may not use, or with an access rule of its own.
  const isOwn = httpStatusOf(error) === 403 && !isOfCaller(error);
  if (isOwn) return { code: 'FORBIDDEN', message: (error as Error).message };
  return undefined;
}
