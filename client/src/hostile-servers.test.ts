/** Servers that answer without end, with bombs, with redirects and with controls for terminals. */
import { gzipSync } from 'node:zlib';
import { encodeNpy, tensorFromValues } from '@sagemaker-tfs/tensors';
import { zipSync } from 'fflate';
import { serve, type TestServer } from '../test/servers.ts';
import { type PredictOptions, predict, predictStream } from './index.ts';

let server: TestServer | undefined;

afterEach(() => server?.stop());

type Answering = Parameters<typeof serve>[0];

async function failure(answering: Answering, options: PredictOptions = {}) {
  server = await serve(answering);
  return predict({ url: server.url }, '{}', { retries: 0, ...options }).then(
    (answer) => Promise.resolve().then(() => answer.tensors()),
    (error: unknown) => Promise.reject(error),
  );
}

const MIB = 1024 * 1024;
const zeros = Buffer.alloc(64 * MIB);

test.each<[string, Answering]>([
  [
    'without end',
    (_, response) => {
      const more = () => {
        while (response.writable && response.write(zeros.subarray(0, MIB)));
      };
      response.on('drain', more).writeHead(200);
      more();
    },
  ],
  [
    'of a length',
    (_, response) =>
      response.writeHead(200, { 'Content-Length': 2 * MIB }).end(zeros.subarray(0, 2 * MIB)),
  ],
  [
    'whose npz is compressed',
    (_, response) => {
      const npy = Buffer.concat(encodeNpy(tensorFromValues('float32', [1], [0])));
      const array = Buffer.concat([npy.subarray(0, -4), zeros]);
      const type = { 'Content-Type': 'application/x-npz' };
      response.writeHead(200, type).end(zipSync({ 'a.npy': new Uint8Array(array) }));
    },
  ],
])('an answer %s is held up to maxAnswerBytes', async (_, answering) => {
  await expect(failure(answering, { maxAnswerBytes: MIB })).rejects.toMatchObject({
    code: 'ANSWER_TOO_LARGE',
    message: expect.stringContaining('raise maxAnswerBytes'),
  });
});

test('an answer compressed all the same is refused: fetch takes its half for the whole', async () => {
  const packed = gzipSync('1,2\n'.repeat(100_000));
  server = await serve((request, response, body) => {
    expect(request.headers['accept-encoding']).toBe('identity');
    const isError = body.toString() === 'fail';
    response.writeHead(isError ? 400 : 200, { 'Content-Encoding': 'gzip' });
    if (isError) response.end(gzipSync('{"error":"no","code":"BAD_INPUT"}'));
    else response.end(packed.subarray(0, packed.length / 2));
  });
  const target = { url: server.url };
  const refused = {
    code: 'UNREADABLE_ANSWER',
    message: expect.stringContaining('is compressed (gzip)'),
  };
  await expect(predict(target, '{}')).rejects.toMatchObject(refused);
  await expect(predictStream(target, '{}')).rejects.toMatchObject(refused);
  // An error is read as far as it goes.
  await expect(predict(target, 'fail')).rejects.toMatchObject({ code: 'BAD_INPUT' });
});

test('an answer of just that many bytes is read', async () => {
  server = await serve((_, response) => response.end(zeros.subarray(0, MIB)));
  const answer = await predict({ url: server.url }, '{}', { maxAnswerBytes: MIB });
  expect(answer.bytes).toHaveLength(MIB);
});

test.each([0, -1, Number.NaN])('maxAnswerBytes %d cannot be meant', async (maxAnswerBytes) => {
  await expect(predict({ url: 'http://127.0.0.1:9' }, '{}', { maxAnswerBytes })).rejects.toThrow(
    /maxAnswerBytes is .* Pass 1 or more/,
  );
});

test('an error without end is cut', async () => {
  const endless: Answering = (_, response) => {
    response.on('drain', () => response.write('x'.repeat(MIB))).writeHead(400);
    response.write('x'.repeat(2 * MIB));
  };
  await expect(failure(endless)).rejects.toMatchObject({
    code: 'HTTP_400',
    message: expect.stringMatching(/^http\S+ answered 400: x{500}\.\.\.$/),
  });
});

test.each([301, 302, 303, 307, 308])('a redirect by %d is not followed', async (status) => {
  const seen: string[] = [];
  const redirecting: Answering = (request, response) => {
    seen.push(`${request.url}`);
    response.writeHead(status, { Location: 'http://127.0.0.1:9/elsewhere' }).end();
  };
  await expect(failure(redirecting)).rejects.toMatchObject({
    code: 'REDIRECTED',
    status,
    message: expect.stringContaining('redirects to http://127.0.0.1:9/elsewhere. '),
  });
  expect(seen).toEqual(['/invocations']);
});

test('controls of terminals in what a server says are written out', async () => {
  const error =
    'bad\u001b[2J\u009b31m\u202e\u0007"name"\u200b\ufff9\u{e0041}\u{1f600}\r\n\n\tnext\rline';
  const body = JSON.stringify({ error, code: 'OH\u001b[31m' });
  const answering: Answering = (_, response) => response.writeHead(400).end(body);
  const thrown = await failure(answering).catch((cause: Error) => cause);
  expect(thrown).toMatchObject({
    code: 'HTTP_400',
    message: expect.stringContaining(
      'bad\\u001b[2J\\u009b31m\\u202e\\u0007"name"\\u200b\\ufff9\\u{e0041}\u{1f600} next line',
    ),
  });
  expect(`${thrown}`).not.toContain('\n');
});

test('a wait beyond all numbers is none that is asked for', async () => {
  const answering: Answering = (_, response) =>
    response.writeHead(503, { 'Retry-After': '1'.repeat(400) }).end();
  await expect(failure(answering)).rejects.toMatchObject({ retryAfterSeconds: undefined });
});
