/** Bodies that are longer than what is said of them, from what answers as S3 does. */
import { createServer } from 'node:http';
import { S3Client } from '@aws-sdk/client-s3';
import { listening } from '../../../test/support/listening.ts';
import { openObject, readBytes, readText, receive } from './objects.ts';

let sent = 0;
let close: () => Promise<void>;
let s3: S3Client;
beforeAll(async () => {
  const piece = Buffer.alloc(64 * 1024, 'x');
  const server = createServer((request, response) => {
    if (request.url?.includes('sized')) return void response.end('0123456789');
    const write = () => {
      for (let goes = true; goes && !response.destroyed; sent += piece.length) {
        goes = response.write(piece);
      }
    };
    response.on('drain', write);
    write();
  });
  const started = await listening(server);
  close = started.close;
  s3 = new S3Client({
    endpoint: started.url,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  });
});
afterAll(async () => {
  s3.destroy();
  await close();
});

const place = { bucket: 'data', key: 'endless' };

test.each([
  ['readBytes', () => readBytes(s3, place)],
  ['readText', () => readText(s3, place)],
  ['receive', () => receive(s3, place, 'bytes=0-9')],
  ['openObject', () => openObject(s3, place)],
])('%s takes no object without a length: it might never end', async (_, read) => {
  sent = 0;
  await expect(read()).rejects.toMatchObject({
    code: 'OBJECT_WITHOUT_LENGTH',
    message: expect.stringContaining('s3://data/endless came without a Content-Length'),
  });
  expect(sent).toBeLessThan(64 * 1024 * 1024);
});

test('an object that has grown beyond what its reader takes is not read', async () => {
  const sized = { bucket: 'data', key: 'sized' };
  expect(await readBytes(s3, sized, 10)).toHaveLength(10);
  await expect(readBytes(s3, sized, 9)).rejects.toMatchObject({
    code: 'OBJECT_TOO_LARGE',
    message:
      's3://data/sized has 10 bytes, and at most 9 are read. Leave it out, or raise SAGEMAKER_TFS_MAX_REQUEST_BYTES.',
  });
});
