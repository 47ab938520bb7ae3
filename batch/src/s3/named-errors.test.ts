/** What an error of S3 says, with answers of a server. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { withNamedErrors } from './named-errors.ts';

/** Answers with the status and code that the key, or the prefix, begins with: `403-AccessDenied`. */
const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://s3');
  const wanted = searchParams.get('prefix') ?? pathname.split('/')[2] ?? '';
  const [status, code = ''] = wanted.split('-');
  response.writeHead(Number(status), { 'content-type': 'application/xml' });
  const text = `<Error><Code>${code}</Code><Message>S3's words.</Message></Error>`;
  response.end(request.method === 'HEAD' ? '' : text);
});
let s3: S3Client;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  s3 = withNamedErrors(
    new S3Client({
      ...{ region: 'us-east-1', forcePathStyle: true, maxAttempts: 1 },
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    }),
  );
});
afterAll(() => {
  s3.destroy();
  server.close();
});

const at = (Key: string) => ({ Bucket: 'tiles', Key });

test.each([
  [
    () => s3.send(new GetObjectCommand(at('403-AccessDenied'))),
    "S3's words (GetObject of s3://tiles/403-AccessDenied). The credentials need s3:GetObject there, and kms:Decrypt if a key of KMS encrypts it.",
  ],
  [
    () => s3.send(new PutObjectCommand({ ...at('403-AccessDenied'), Body: 'x' })),
    "S3's words (PutObject of s3://tiles/403-AccessDenied). The credentials need s3:PutObject there, and kms:GenerateDataKey if a key of KMS encrypts it.",
  ],
  [
    () => s3.send(new ListObjectsV2Command({ Bucket: 'tiles', Prefix: '403-AccessDenied' })),
    "S3's words (ListObjectsV2 of s3://tiles/403-AccessDenied). The credentials need s3:ListBucket for that bucket and prefix.",
  ],
  [
    () => s3.send(new ListObjectsV2Command({ Bucket: 'tiles', Prefix: '404-NoSuchBucket' })),
    "S3's words (ListObjectsV2 of s3://tiles/404-NoSuchBucket). Check the bucket's name.",
  ],
  [
    () => s3.send(new HeadObjectCommand(at('403-'))),
    'status 403 (HeadObject of s3://tiles/403-). The credentials need s3:GetObject there, and kms:Decrypt if a key of KMS encrypts it.',
  ],
  [
    () => s3.send(new GetObjectCommand(at('400-ExpiredToken'))),
    "S3's words (GetObject of s3://tiles/400-ExpiredToken). Renew the credentials.",
  ],
  [
    () => s3.send(new GetObjectCommand(at('403-SignatureDoesNotMatch'))),
    "S3's words (GetObject of s3://tiles/403-SignatureDoesNotMatch). Renew the credentials.",
  ],
])('%# names call, place and what to do', async (call, message) => {
  await expect(call()).rejects.toThrow(new Error(message));
});

test('the name of the error stays, by which programs know it', async () => {
  const call = s3.send(new GetObjectCommand(at('404-NoSuchKey')));
  await expect(call).rejects.toMatchObject({
    name: 'NoSuchKey',
    $metadata: { httpStatusCode: 404 },
  });
});
