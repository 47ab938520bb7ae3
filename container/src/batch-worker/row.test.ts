/** What becomes of an object that S3 does not hand over. */
import type { S3Client } from '@aws-sdk/client-s3';
import { rowMaker } from './row.ts';

/** An S3 that refuses every call. */
function refusing(httpStatusCode: number, name: string): S3Client {
  const send = async () => {
    throw Object.assign(new Error(name), { name, $metadata: { httpStatusCode } });
  };
  return { send } as unknown as S3Client;
}

test.each<[status: number, name: string, becomes: 'an error' | 'gone' | 'the end']>([
  [403, 'AccessDenied', 'an error'],
  [403, 'InvalidObjectState', 'an error'],
  [404, 'NoSuchKey', 'gone'],
  // Of every object, and mended by who runs the worker.
  [403, 'RequestTimeTooSkewed', 'the end'],
  [403, 'InvalidAccessKeyId', 'the end'],
  [403, 'SignatureDoesNotMatch', 'the end'],
  [403, 'AccountProblem', 'the end'],
  [400, 'ExpiredToken', 'the end'],
  [404, 'NoSuchBucket', 'the end'],
])('%i %s is %s', async (status, name, becomes) => {
  const make = rowMaker({
    ...{ s3: refusing(status, name), bucket: 'tiles', root: '', maxBytes: 10 },
    ...{ poison: new Set<string>(), hold: () => undefined, tellsErrors: true },
    make: async () => '',
  });
  const row = make({ key: 'a', size: 1, modified: 0 });
  if (becomes === 'the end') await expect(row).rejects.toThrow(name);
  else if (becomes === 'gone') expect(await row).toMatchObject({ name: 'a', isGone: true });
  else expect((await row).failure?.code).toBe('FORBIDDEN');
});

test('an object that grew after it was listed is too large by what is sent', async () => {
  const Body = { destroy: () => undefined, transformToByteArray: async () => new Uint8Array(11) };
  const send = async () => ({ Body, ContentLength: 11 });
  const make = rowMaker({
    ...{ s3: { send } as unknown as S3Client, bucket: 'tiles', root: '', maxBytes: 10 },
    ...{ poison: new Set<string>(), hold: () => undefined, tellsErrors: true },
    make: async () => '',
  });
  const { failure } = await make({ key: 'a', size: 1, modified: 0 });
  expect(failure?.code).toBe('REQUEST_TOO_LARGE');
});
