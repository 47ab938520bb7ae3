/** What answers as S3 and is not: a proxy, another server, or one that would never come to an end. */
import { createServer, type RequestListener, type Server } from 'node:http';
import { HeadObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { listening } from '../../../test/support/listening.ts';
import { listDated } from './dated-listing.ts';
import { isAbsent, isPassing } from './errors.ts';
import { listObjects } from './listing.ts';
import { guarded } from './named-errors.ts';
import { readText } from './objects.ts';

let server: Server;
let s3: S3Client;
let requests: number;
afterEach(() => {
  s3.destroy();
  server.closeAllConnections();
  server.close();
});

const PLACE = { bucket: 'bucket', key: 'in/' };

async function answering(answer: RequestListener): Promise<void> {
  requests = 0;
  server = createServer((request, response) => {
    requests++;
    answer(request, response);
  });
  const { url } = await listening(server);
  s3 = guarded(
    new S3Client({
      ...{ endpoint: url, region: 'us-east-1', forcePathStyle: true, maxAttempts: 1 },
      credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    }),
  );
}

function sending(status: number, body: string): RequestListener {
  return ({ method }, response) => response.writeHead(status).end(method === 'HEAD' ? '' : body);
}

const failureOf = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    (value) => Promise.reject(new Error(`it ended well: ${JSON.stringify(value)}`)),
    (error: Error) => error,
  );

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe('an object counts as deleted', () => {
  test('where S3 says so', async () => {
    await answering(sending(404, '<Error><Code>NoSuchKey</Code><Message>gone</Message></Error>'));
    const error = await failureOf(readText(s3, PLACE));
    expect(isAbsent(error)).toBe(true);
  });

  test.each([
    ['a page of a proxy', '<html><body>not found<p></body></html>'],
    ['a page that is XML', '<html><body>not found</body></html>'],
    ['no text', ''],
    ['JSON', '{"message":"Not Found"}'],
    ['another code', '<Error><Code>NoSuchBucket</Code></Error>'],
  ])('and not where status 404 has %s', async (_, body) => {
    await answering(sending(404, body));
    const error = await failureOf(readText(s3, PLACE));
    expect([isAbsent(error), isPassing(error)]).toEqual([false, false]);
    expect(error.message).toMatch(/GetObject of s3:\/\/bucket\/in\//);
    expect(error.message).toMatch(/AWS_ENDPOINT_URL|Check the bucket/);
    expect(error.message).not.toMatch(/\$response|UnknownError/);
  });
});

describe('a listing ends with LISTING_INVALID', () => {
  const page = (keys: readonly string[], token = 'again') =>
    `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>${token}</NextContinuationToken>${keys
      .map((key) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`)
      .join('')}</ListBucketResult>`;

  test.each<[string, (n: number) => string]>([
    ['that has the same token for ever', () => page([])],
    ['that has the same page for ever', (n) => page(['in/a', 'in/b'], `t${n}`)],
    ['whose pages are not sorted', (n) => page([`in/${9 - n}`], `t${n}`)],
    ['whose page is not sorted, as of a directory bucket', (n) => page(['in/b', 'in/a'], `t${n}`)],
  ])('%s', async (_, answer) => {
    await answering((request, response) => sending(200, answer(requests))(request, response));
    for (const listing of [listObjects(s3, PLACE), listDated(s3, PLACE)]) {
      const error = await failureOf(collect(listing));
      expect(error).toMatchObject({ code: 'LISTING_INVALID' });
    }
    expect(requests).toBeLessThan(10);
  });
});

describe('an answer that is larger than any of S3', () => {
  const flood = (status: number): RequestListener => {
    return (_, response) => {
      response.writeHead(status, { 'content-type': 'application/xml' });
      const piece = Buffer.alloc(2 ** 16, '<x>');
      const write = () => {
        while (!response.destroyed && response.write(piece));
        response.once('drain', write);
      };
      response.write('<ListBucketResult>');
      write();
    };
  };

  test.each([
    ['a listing', 200, () => s3.send(new ListObjectsV2Command({ Bucket: 'bucket' }))],
    ['an error', 500, () => readText(s3, PLACE)],
  ] as const)('is not held in memory: %s', async (_, status, ask) => {
    await answering(flood(status));
    const before = process.memoryUsage().rss;
    const error = await failureOf(ask());
    expect(error).toMatchObject({ code: 'ANSWER_TOO_LARGE' });
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 2 ** 20);
  });

  test('a HEAD has no body, and works', async () => {
    await answering(sending(200, ''));
    const { $metadata } = await s3.send(new HeadObjectCommand({ Bucket: 'bucket', Key: 'a' }));
    expect($metadata.httpStatusCode).toBe(200);
  });
});
