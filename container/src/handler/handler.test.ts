/** Handlers as users write them, in the runtime as SageMaker runs it. */
import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { createModelDir, type ModelDirContents } from '../testing/model-dir.ts';
import { type RuntimeProcess, startRuntimeProcess, until } from '../testing/runtime-process.ts';

const halfPlusTwo = fixtureModel('half_plus_two').basePath;
const copies = { half_plus_two: halfPlusTwo, other: halfPlusTwo };

interface Started {
  readonly runtime: RuntimeProcess;
  readonly stop: () => Promise<void>;
}

async function start(
  contents: ModelDirContents,
  variables: Record<string, string> = {},
): Promise<Started> {
  const { directory, remove } = await createModelDir(contents);
  const runtime = await startRuntimeProcess({ SAGEMAKER_TFS_MODEL_DIR: directory, ...variables });
  const stop = async () => {
    await runtime.end('SIGKILL');
    await remove();
  };
  await runtime.ready().catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return { runtime, stop };
}

/** Each export of `cases` is a handler, chosen by the custom attribute `case`. */
const HANDLER = `
import { HttpError, numericTensor, typedArray, toNumbers } from 'sagemaker-tfs/handler';

const x = (...values) => numericTensor('float32', [values.length], Float32Array.from(values));

const cases = {
  text: () => 'plain',
  bytes: () => new Uint8Array([1, 2, 3]),
  object: () => ({ id: 2n ** 63n - 1n, list: Float32Array.of(0.5, 1) }),
  response: () => ({
    body: '<b>hi</b>', contentType: 'text/html', status: 202, customAttributes: { note: 'a,b' },
  }),
  tensors: async (data, context) => context.predict({ x: x(1, 2) }),
  outputTwice: (data, context) => context.predict({ x: x(1, 2) }, { outputs: ['y', 'y'] }),
  emptyRows: () => ({ y: numericTensor('float32', [1e8, 0], new Float32Array(0)) }),
  emptyInput: async (data, context) =>
    context.predict({ x: numericTensor('float32', [1e8, 0], new Float32Array(0)) }),
  ensemble: async (data, context) => {
    const versions = await Promise.all(
      ['1', '2'].map((version) => context.predict({ x: x(4) }, { version })),
    );
    return versions.map((outputs) => [...toNumbers(outputs.y)]);
  },
  async otherModel(data, context) {
    const own = await context.predict({ x: x(4) });
    const other = await context.predict({ x: x(4) }, { model: 'other', version: '1' });
    return [own, other].map((outputs) => [...toNumbers(outputs.y)]);
  },
  acceptedObject: (data, context) => ({ body: { a: 1 }, contentType: context.acceptHeader }),
  acceptedBytes: (data, context) => ({ body: data, contentType: context.acceptHeader }),
  badStatus: () => ({ body: 'text', contentType: 'text/plain', status: 42 }),
  badType: () => ({ body: 'text', contentType: 'text/plain\\n' }),
  badAttribute: () => ({ body: 'text', contentType: 'text/plain', customAttributes: { n: 1 } }),
  textAttributes: () => ({ body: 'text', contentType: 'text/plain', customAttributes: 'a=b' }),
  listedAttributes: () => ({ body: 'text', contentType: 'text/plain', customAttributes: ['a=b'] }),
  mappedAttributes: () => ({ body: 'x', contentType: 'text/plain', customAttributes: new Map([['a', 'b']]) }),
  statusAlone: () => ({ body: 'text', status: 202 }),
  attributesAlone: () => ({ body: 'text', contentType: undefined, customAttributes: { a: 'b' } }),
  bodyAlone: () => ({ body: 'text' }),
  statusOfItsOwn: () => ({ body: 'text', status: 'positive' }),
  otherFields: () => ({ body: 'text', status: 1, name: 'x' }),
  async *stream() { yield 'one '; yield Buffer.from('two '); yield 'three'; },
  async *empties() { released = false; while (!released) yield ''; yield 'released'; },
  release: () => { released = true; return 'ok'; },
  async *breaks() { yield 'one '; throw new Error('halfway'); },
  async *fails() { throw new Error('before anything'); },
  nothing: () => undefined,
  throws: () => { throw new TypeError('no picture in it'); },
  rejects: () => { throw new HttpError(422, 'no digit', { code: 'NO_DIGIT' }); },
  badInput: (data, context) => context.predict({ nope: x(1) }),
  hangs: () => new Promise(() => {}),
  untilAborted: (data, context) => new Promise((resolve) => {
    context.signal.addEventListener('abort', () => {
      context.log.info({ code: context.signal.reason.code }, 'aborted');
      resolve('too late');
    });
    context.log.info('waits to be aborted');
  }),
  context: (data, context) => ({ ...context, signature: context.signature.key, length: data.length }),
};

let released;
export const handler = (data, context) =>
  cases[/case=(\\w+)/.exec(context.customAttributes)[1]](data, context);
`;

describe('a handler', () => {
  let started: Started;
  beforeAll(async () => {
    started = await start(
      { copies, files: { 'code/inference.mjs': HANDLER } },
      { SAGEMAKER_TFS_REQUEST_TIMEOUT_SECONDS: '2' },
    );
  });
  afterAll(() => started.stop());

  const call = (name: string, headers: Record<string, string> = {}) =>
    fetch(`${started.runtime.url}/invocations`, {
      method: 'POST',
      body: 'abc',
      headers: { 'X-Amzn-SageMaker-Custom-Attributes': `case=${name}`, ...headers },
    });

  test('text and bytes go out under the type that the client accepts', async () => {
    const text = await call('text', { Accept: 'text/plain' });
    expect(text.headers.get('Content-Type')).toBe('text/plain');
    expect(await text.text()).toBe('plain');
    const bytes = await call('bytes', { Accept: '*/*' });
    expect(bytes.headers.get('Content-Type')).toBe('application/octet-stream');
    expect([...new Uint8Array(await bytes.arrayBuffer())]).toEqual([1, 2, 3]);
  });

  test('objects go out as JSON with every digit', async () => {
    expect(await (await call('object')).text()).toBe('{"id":9223372036854775807,"list":[0.5,1]}');
  });

  test('a response says everything itself', async () => {
    const response = await call('response');
    expect(response.status).toBe(202);
    expect(response.headers.get('Content-Type')).toBe('text/html');
    expect(response.headers.get('X-Amzn-SageMaker-Custom-Attributes')).toBe('note=a%2Cb');
    expect(await response.text()).toBe('<b>hi</b>');
  });

  test.each([
    ['acceptedObject', '*/*', 'application/json'],
    ['acceptedBytes', '*/*', 'application/octet-stream'],
    ['acceptedBytes', 'image/*', 'application/octet-stream'],
    ['acceptedObject', 'text/*, application/vnd.x+json;q=0.5, */*;q=0.1', 'application/vnd.x+json'],
    ['acceptedObject', 'application/vnd.x+json;q=0.5', 'application/vnd.x+json'],
    ['acceptedObject', 'text/html;q=0, application/json', 'application/json'],
    ['acceptedBytes', 'text/html;q=0.2, "a,b"/x;q=0, text/csv', 'text/csv'],
    ['acceptedBytes', 'text/csv; header="a,b"', 'text/csv; header="a,b"'],
  ])('%s under the Accept header %s is answered as %s', async (name, Accept, type) => {
    expect((await call(name, { Accept })).headers.get('Content-Type')).toBe(type);
  });

  test('an output asked for twice is one', async () => {
    expect(await (await call('outputTwice')).json()).toEqual({ predictions: [3.5, 4] });
  });

  test('tensors are encoded for the Accept header', async () => {
    expect(await (await call('tensors')).json()).toEqual({ predictions: [3.5, 4] });
    const npy = Buffer.from(
      await (await call('tensors', { Accept: 'application/x-npy' })).arrayBuffer(),
    );
    expect(npy.subarray(0, 6).toString('latin1')).toBe('\x93NUMPY');
  });

  test('a hundred million empty rows are an error, and the process lives', async () => {
    const response = await call('emptyRows');
    expect(response.status).toBe(500);
    expect(await response.text()).toContain('100000000 empty rows');
    expect((await call('emptyInput')).status).toBe(400);
    expect((await call('text')).status).toBe(200);
  });

  test('several versions in one request', async () => {
    const response = await call('ensemble');
    expect(await response.json()).toEqual([[4], [5]]);
  });

  test('the version that answered is that of the request’s model', async () => {
    const response = await call('otherModel');
    expect(await response.json()).toEqual([[5], [4]]);
    const attributes = response.headers.get('X-Amzn-SageMaker-Custom-Attributes');
    expect(attributes).toBe('tfs-model-version=2');
  });

  test('a stream goes out as it is made', async () => {
    expect(await (await call('stream')).text()).toBe('one two three');
  });

  test('a stream of empty pieces lets other requests in', async () => {
    const stream = call('empties');
    expect((await call('release')).status).toBe(200);
    expect(await (await stream).text()).toBe('released');
  });

  test('a stream that fails before its first piece is an error, later a broken connection', async () => {
    const early = await call('fails');
    expect(early.status).toBe(500);
    expect(await early.json()).toMatchObject({ error: 'the handler failed: before anything' });
    await expect(call('breaks').then((response) => response.text())).rejects.toThrow();
  });

  test.each([
    ['throws', 500, { error: 'the handler failed: no picture in it', code: 'HANDLER_FAILED' }],
    [
      'nothing',
      500,
      { error: expect.stringContaining('returned nothing'), code: 'HANDLER_FAILED' },
    ],
    [
      'badStatus',
      500,
      {
        error: expect.stringContaining('the handler failed: its response has the status 42'),
        code: 'HANDLER_FAILED',
      },
    ],
    [
      'badType',
      500,
      { error: expect.stringContaining('the contentType "text/plain\\n"'), code: 'HANDLER_FAILED' },
    ],
    [
      'badAttribute',
      500,
      { error: expect.stringContaining('the customAttributes {"n":1}'), code: 'HANDLER_FAILED' },
    ],
    ...['text', 'listed', 'mapped'].map((kind): [string, number, object] => [
      `${kind}Attributes`,
      500,
      {
        error: expect.stringMatching(
          /customAttributes of type (string|Array|Map)\. They are an object of names and texts: \{ name: 'value' \}\./,
        ),
        code: 'HANDLER_FAILED',
      },
    ]),
    [
      'statusAlone',
      500,
      {
        error: expect.stringContaining(
          "its response has body, status, but no text as contentType. Add contentType: 'application/json'",
        ),
        code: 'HANDLER_FAILED',
      },
    ],
    [
      'attributesAlone',
      500,
      { error: expect.stringContaining('but no text as contentType'), code: 'HANDLER_FAILED' },
    ],
    ['bodyAlone', 200, { body: 'text' }],
    ['statusOfItsOwn', 200, { body: 'text', status: 'positive' }],
    ['otherFields', 200, { body: 'text', status: 1, name: 'x' }],
    ['rejects', 422, { error: 'no digit', code: 'NO_DIGIT' }],
    ['badInput', 400, { error: expect.stringContaining('nope'), code: 'UNKNOWN_INPUT' }],
    ['hangs', 504, { error: expect.stringContaining('2 s'), code: 'REQUEST_TIMEOUT' }],
  ])('%s gives %i', async (name, status, body) => {
    const response = await call(name);
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual(body);
  });

  test('the stack of a failure is in the log only', async () => {
    await call('throws');
    const stack = /TypeError: no picture in it\\n +at Object.throws/;
    await until(() => stack.test(started.runtime.output()));
  });

  test('a client that goes away aborts the signal', async () => {
    const { runtime } = started;
    const client = request(`${runtime.url}/invocations`, {
      method: 'POST',
      headers: { 'X-Amzn-SageMaker-Custom-Attributes': 'case=untilAborted' },
    });
    client.on('error', () => undefined);
    client.end('abc');
    const logged = (text: string) => runtime.log().find(({ msg }) => msg === text);
    await until(() => logged('waits to be aborted') !== undefined);
    client.destroy();
    await until(() => logged('aborted') !== undefined);
    expect(logged('aborted')).toMatchObject({ code: 'CLIENT_CLOSED_REQUEST' });
  });

  test('the context tells about the request', async () => {
    const response = await call('context', {
      'Content-Type': 'text/csv',
      Accept: 'text/csv;q=0.5',
      'X-Amzn-SageMaker-Custom-Attributes': 'case=context,tfs-model-version=1',
    });
    const context = await response.json();
    expect(context).toMatchObject({
      modelName: 'half_plus_two',
      modelVersion: '1',
      method: 'predict',
      customAttributes: 'case=context,tfs-model-version=1',
      requestContentType: 'text/csv',
      acceptHeader: 'text/csv;q=0.5',
      contentLength: 3,
      signature: 'serving_default',
      length: 3,
      grpcPort: expect.stringMatching(/^\d+$/),
      restUri: expect.stringMatching(
        /^http:\/\/127\.0\.0\.1:\d+\/v1\/models\/half_plus_two\/versions\/1:predict$/,
      ),
    });
  });
});

describe('handlers in other forms', () => {
  const invoke = async (files: Record<string, string>, body: string | Uint8Array) => {
    const { runtime, stop } = await start({ copies, files });
    try {
      const response = await fetch(`${runtime.url}/invocations`, { method: 'POST', body });
      return { status: response.status, body: await response.json() };
    } finally {
      await stop();
    }
  };

  test('inputHandler and outputHandler, the model between them', async () => {
    const source = `
      import { toNumbers } from 'sagemaker-tfs/handler';
      export const inputHandler = (data) => ({ instances: [Number(Buffer.from(data))] });
      export const outputHandler = ({ y }, context) => ({ y: toNumbers(y)[0], of: context.modelName });
    `;
    expect(await invoke({ 'code/inference.mjs': source }, '6')).toEqual({
      status: 200,
      body: { y: 6, of: 'half_plus_two' },
    });
  });

  test('CommonJS', async () => {
    const source = `
      const { HttpError } = require('sagemaker-tfs/handler');
      exports.handler = (data) => {
        if (data.length > 4) throw new HttpError(413, 'too long');
        return { bytes: data.length };
      };
    `;
    expect(await invoke({ 'code/inference.cjs': source }, 'four')).toEqual({
      status: 200,
      body: { bytes: 4 },
    });
  });

  test('streaming input arrives in pieces', async () => {
    const source = `
      import { createHash } from 'node:crypto';
      export const streaming = true;
      export async function handler(data) {
        const hash = createHash('sha256');
        let pieces = 0;
        for await (const chunk of data) { hash.update(chunk); pieces += 1; }
        return { digest: hash.digest('hex'), several: pieces > 1 };
      }
    `;
    const body = Buffer.alloc(3_000_000, 'abc');
    expect(await invoke({ 'code/inference.mjs': source }, body)).toEqual({
      status: 200,
      body: { digest: createHash('sha256').update(body).digest('hex'), several: true },
    });
  });
});

test('SAGEMAKER_TFS_HANDLER_ERRORS=hidden: the log alone says what an exception said; an HttpError is shown', async () => {
  const source = `
    import { HttpError } from 'sagemaker-tfs/handler';
    export async function handler(data) {
      const text = Buffer.from(data).toString();
      if (text === 'stream') return (async function* () { throw new Error('secret: ' + text); })();
      if (text === 'told') throw new HttpError(422, 'no digit');
      throw new Error('secret: ' + text);
    }
  `;
  const contents = { copies, files: { 'code/inference.mjs': source } };
  const { runtime, stop } = await start(contents, {
    SAGEMAKER_TFS_HANDLER_ERRORS: 'hidden',
    SAGEMAKER_TFS_DEFAULT_MODEL_NAME: 'other',
  });
  try {
    const answer = async (body: string) => {
      const response = await fetch(`${runtime.url}/invocations`, { method: 'POST', body });
      return `${response.status} ${await response.text()}`;
    };
    expect(await answer('told')).toContain('no digit');
    for (const text of ['throw', 'stream']) {
      const told = await answer(text);
      expect(told).toMatch(/^500 .*HANDLER_FAILED/);
      expect(told).not.toContain('secret');
      await until(() => runtime.output().includes(`secret: ${text}`));
    }
  } finally {
    await stop();
  }
});
