import { createServer, type RequestListener, type Server } from 'node:http';
import { S3Client } from '@aws-sdk/client-s3';
import { listening } from '../../../test/support/listening.ts';
import { isPassing } from './errors.ts';
import { guarded } from './named-errors.ts';
import { readText } from './objects.ts';
import { patientRetries } from './patient-retries.ts';
import { boundedConnections } from './quiet-connections.ts';

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
  delete process.env.AWS_MAX_ATTEMPTS;
});

const PLACE = { bucket: 'bucket', key: 'key' };

/** Reads an object from an S3 that answers so, with `answers[n]` to the request of number `n`, and the last to others. */
async function read(tries: number, ...answers: RequestListener[]) {
  process.env.AWS_MAX_ATTEMPTS = String(tries);
  let requests = 0;
  server = createServer((request, response) => {
    const answer = answers[Math.min(requests++, answers.length - 1)];
    answer?.(request, response);
  });
  const { url } = await listening(server);
  const s3 = guarded(
    new S3Client({
      ...{ endpoint: url, region: 'us-east-1', forcePathStyle: true },
      credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
      ...{ retryStrategy: patientRetries(), requestHandler: boundedConnections(4, 200) },
    }),
  );
  const text = await readText(s3, PLACE)
    .catch((error: unknown) => error)
    .finally(() => s3.destroy());
  return { text, requests };
}

const silent: RequestListener = () => undefined;
const cut: RequestListener = (_, response) => {
  response.writeHead(200, { 'content-length': 4 });
  response.write('te');
};
const whole: RequestListener = (_, response) => response.end('text');
const throttled: RequestListener = (_, response) =>
  response
    .writeHead(400, { 'content-type': 'application/xml' })
    .end('<Error><Code>KMS.ThrottlingException</Code><Message>slow down</Message></Error>');

test.each([
  ['that is never answered', silent],
  ['whose answer stops within the body', cut],
  ['that KMS throttles', throttled],
])('a call %s is made again', async (_, answer) => {
  expect(await read(3, answer, whole)).toEqual({ text: 'text', requests: 2 });
});

test.each([
  ['never answered', silent],
  ['throttled by KMS', throttled],
])(
  'a call that is always %s ends after its tries, as one that may work later',
  async (_, answer) => {
    const { text, requests } = await read(3, answer);
    expect([isPassing(text), requests]).toEqual([true, 3]);
  },
);
