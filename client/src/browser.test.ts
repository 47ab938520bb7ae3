import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import {
  freePorts,
  type RuntimeProcess,
  startRuntimeProcess,
} from '@sagemaker-tfs/container/testing';
import { build } from 'esbuild';
import { fixtureModel } from '../../test/fixtures/index.ts';
import { findChromium } from '../../tools/chromium.ts';
import { serve, type TestServer } from '../test/servers.ts';

const SAMPLE = join(__dirname, '../../examples/digits/samples/00000-7.jpg');

/** What a page does: fits an image where there is a canvas, and asks for its digit in three forms. */
const PAGE_SCRIPT = `
import { fitImage, imagesBody, jsonBody, predict, PredictionError, predictStream, tensorsBody } from './index.ts';
const likeliest = ({ data }) => data.indexOf(Math.max(...data));
globalThis.run = async (url, deadUrl, image) => {
  const target = { url };
  const hasCanvas = typeof OffscreenCanvas === 'function';
  const size = { width: 28, height: 28, mode: 'letterbox', quality: 95 };
  const fitted = hasCanvas ? await fitImage(image, size) : image;
  const images = await predict(target, imagesBody([fitted, image]), { accept: 'application/x-npy' });
  const zeros = { dtype: 'float32', shape: [1, 28, 28, 1], data: new Float32Array(784) };
  const npz = await predict(target, tensorsBody({ image: zeros }), { accept: 'application/x-npz' });
  const json = await predict(target, jsonBody({ instances: zeros }));
  const records = await predict(target, tensorsBody(zeros), { accept: 'application/x-tfrecord' });
  const dtypes = { output: 'float32' };
  const stream = await predictStream(target, jsonBody({ instances: zeros }));
  let streamed = 0;
  for await (const chunk of stream.chunks) streamed += chunk.byteLength;
  const error = await predict(target, 'no json').catch((error) => error);
  const gone = await predict({ url: deadUrl }, '{}', { retries: 0 }).catch((e) => e);
  const { shape, data } = images.tensors().probabilities;
  return JSON.stringify({
    hasCanvas,
    isJpeg: fitted[0] === 0xff && fitted[1] === 0xd8,
    shape,
    digits: [likeliest({ data: data.slice(0, 10) }), likeliest({ data: data.slice(10) })],
    same:
      likeliest(npz.tensors().probabilities) === likeliest(json.tensors(dtypes).output) &&
      likeliest(npz.tensors().probabilities) === likeliest(records.tensors().probabilities),
    streamed: streamed === json.bytes.byteLength,
    error: error instanceof PredictionError && [error.code, error.status],
    gone: gone instanceof PredictionError && gone.code,
  });
};
`;

const work = mkdtempSync(join(tmpdir(), 'client-browser-test-'));
let runtime: RuntimeProcess;
let script: string;
let web: TestServer;
let deadUrl: string;
let finished: (result: string) => void;

beforeAll(async () => {
  const modelDirectory = join(work, 'model');
  await cp(fixtureModel('digits').basePath, join(modelDirectory, 'digits'), { recursive: true });
  runtime = await startRuntimeProcess({ SAGEMAKER_TFS_MODEL_DIR: modelDirectory });
  await runtime.ready();
  deadUrl = `http://127.0.0.1:${await freePorts(1)}`;
  script = await bundle();
  web = await serve(async (request, response, body) => {
    const page = `<script>${script}</script><script>${startOf(web.url)}</script>`;
    if (request.url === '/') response.writeHead(200, { 'Content-Type': 'text/html' }).end(page);
    else if (request.url === '/sample.jpg') response.end(readFileSync(SAMPLE));
    else if (request.url === '/result') {
      response.end();
      finished(body.toString('utf8'));
    } else await crossOrigin(request.url ?? '', request.headers, response, body);
  });
});

afterAll(async () => {
  await web?.stop();
  await runtime?.end();
});

const expected = {
  isJpeg: true,
  shape: [2, 10],
  digits: [7, 7],
  same: true,
  streamed: true,
  error: ['BAD_INPUT', 400],
};

test('the browser bundle runs without Node’s globals and modules', async () => {
  const { TextEncoder, TextDecoder, URL, AbortSignal, performance, setTimeout, clearTimeout } =
    globalThis;
  const platform = { TextEncoder, TextDecoder, URL, AbortSignal, performance, setTimeout };
  const bodies = { fetch, btoa, atob, clearTimeout, AbortController, Float32Array, Uint8Array };
  const context = createContext({ ...platform, ...bodies });
  runInContext(script, context);
  const result = await context.run(runtime.url, deadUrl, new Uint8Array(readFileSync(SAMPLE)));
  expect(JSON.parse(result)).toEqual({ ...expected, hasCanvas: false, gone: 'CONNECTION_REFUSED' });
});

const chromium = findChromium();
const inChromium = chromium ? test : test.skip;

inChromium(
  'a page in Chromium predicts across origins (skipped without Chromium on PATH)',
  async () => {
    const result = new Promise<string>((resolve) => {
      finished = resolve;
    });
    const flags = [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
    ];
    const browser = spawn(
      chromium ?? '',
      [...flags, `--user-data-dir=${join(work, 'profile')}`, `${web.url}/`],
      { stdio: 'ignore', detached: true },
    );
    const ended = new Promise((resolve) => browser.once('exit', resolve));
    try {
      expect(JSON.parse(await result)).toEqual({
        ...expected,
        hasCanvas: true,
        gone: 'NETWORK_FAILED',
      });
    } finally {
      // Its helpers too: they are of its process group.
      process.kill(-(browser.pid as number), 'SIGTERM');
      await ended;
    }
  },
);

/** Runs the script in the page against the same server under another origin. */
function startOf(url: string): string {
  const other = url.replace('127.0.0.1', 'localhost');
  return `(async () => {
    const image = new Uint8Array(await (await fetch('/sample.jpg')).arrayBuffer());
    const result = await run('${other}', '${deadUrl}', image).catch((error) => JSON.stringify(String(error)));
    await fetch('/result', { method: 'POST', body: result });
  })();`;
}

/** The runtime with CORS headers, as an API gateway before it sends them. */
async function crossOrigin(
  path: string,
  headers: NodeJS.Dict<string | string[]>,
  response: ServerResponse,
  body: Buffer,
): Promise<void> {
  const allow = {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Headers': '*',
    'Access-Control-Expose-Headers': '*',
  };
  if (headers['access-control-request-method']) {
    response.writeHead(204, allow).end();
    return;
  }
  const answer = await fetch(runtime.url + path, {
    method: 'POST',
    headers: {
      'Content-Type': String(headers['content-type']),
      Accept: String(headers.accept ?? '*/*'),
    },
    body: Uint8Array.from(body),
  });
  response
    .writeHead(answer.status, { ...Object.fromEntries(answer.headers), ...allow })
    .end(Buffer.from(await answer.arrayBuffer()));
}

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: PAGE_SCRIPT, resolveDir: __dirname, sourcefile: 'page.ts', loader: 'ts' },
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'iife',
    charset: 'ascii',
    write: false,
  });
  // A page's own script must not end within itself.
  return (outputFiles[0]?.text ?? '').replaceAll('</script', '<\\/script');
}
