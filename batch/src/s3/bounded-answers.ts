/** A bound of the XML that S3 answers with, which the SDK holds whole. */
import { Readable, Transform } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { BatchError } from '../errors.ts';
import { NOT_S3 } from './not-s3.ts';

/** A page of a listing has 1,000 keys of 1,024 bytes, each byte perhaps as `%XX`, and some words for each key. */
const MAX_BYTES = 16 * 2 ** 20;

/** What the SDK's handler of HTTP returns. */
interface HttpAnswer {
  readonly statusCode: number;
  body?: unknown;
}

/**
 * Has a call fail whose answer is larger than any of S3, before memory holds it. The contents of objects are not bounded
 * here: their readers know how much they take.
 * @returns the client
 */
export function withBoundedAnswers(client: S3Client, maxBytes = MAX_BYTES): S3Client {
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const result = await next(args);
        const answer = result.response as HttpAnswer;
        const isContent = commandName === 'GetObjectCommand' && answer.statusCode < 300;
        if (!isContent && answer.body instanceof Readable) {
          answer.body = bounded(answer.body, maxBytes);
        }
        return result;
      },
    // Behind the SDK's own, which reads the body.
    { step: 'deserialize', priority: 'low', name: 'boundAnswers' },
  );
  return client;
}

function bounded(body: Readable, maxBytes: number): Readable {
  let bytes = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.byteLength;
      if (bytes <= maxBytes) done(null, chunk);
      else done(tooLarge(maxBytes));
    },
  });
  body.once('error', (error) => counted.destroy(error));
  counted.once('close', () => body.destroy());
  return body.pipe(counted);
}

function tooLarge(maxBytes: number): BatchError {
  return new BatchError(
    'ANSWER_TOO_LARGE',
    `an answer has more than ${maxBytes} bytes, which no answer of S3 has. ${NOT_S3}`,
  );
}
