/**
 * Handlers that throw what cannot be read and return what is no answer: each gets a clear error, and no request keeps
 * its place in flight.
 */
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { type RuntimeProcess, until } from '../testing/runtime-process.ts';
import { useRuntimes } from '../testing/use-runtimes.ts';

const HANDLER = `
import { HttpError } from 'sagemaker-tfs/handler';

const no = () => { throw new Error('no'); };
const traps = Object.fromEntries(Object.getOwnPropertyNames(Reflect).map((name) => [name, no]));
const evil = (name, error = new Error('text of it')) =>
  Object.defineProperty(error, name, { get: no, enumerable: true });
const chain = (length) => {
  let error = new Error('text of it');
  for (let at = 0; at < length; at++) error = new Error('text of it', { cause: error });
  return error;
};
const circle = () => {
  const error = new Error('text of it');
  error.cause = new AggregateError([error], 'inner', { cause: error });
  return error;
};
const revoked = () => {
  const { proxy, revoke } = Proxy.revocable(new Error('x'), {});
  revoke();
  return proxy;
};

const thrown = {
  undefined: () => undefined,
  null: () => null,
  zero: () => 0,
  NaN: () => NaN,
  false: () => false,
  bigint: () => 1n,
  symbol: () => Symbol('text of it'),
  text: () => 'text of it',
  emptyText: () => '',
  function: () => no,
  array: () => ['text of it'],
  sparseArray: () => new Array(2 ** 32 - 1),
  object: () => ({ message: 'text of it' }),
  withoutPrototype: () => Object.create(null),
  toStringThrows: () => ({ toString: no, [Symbol.toPrimitive]: no, toJSON: no }),
  proxy: () => new Proxy({}, traps),
  proxyOfError: () => new Proxy(new Error('x'), traps),
  proxyOfHttpError: () => new Proxy(new HttpError(422, 'x'), traps),
  revoked,
  message: () => evil('message'),
  stack: () => evil('stack'),
  name: () => evil('name'),
  cause: () => evil('cause'),
  code: () => evil('code'),
  toJSON: () => Object.assign(new Error('text of it'), { toJSON: no }),
  inspect: () => Object.assign(new Error('text of it'), { [Symbol.for('nodejs.util.inspect.custom')]: no }),
  symbolName: () => Object.assign(new Error('text of it'), { name: Symbol('name') }),
  symbolMessage: () => Object.assign(new Error(), { message: Symbol('text of it') }),
  symbolStack: () => Object.assign(new Error('text of it'), { stack: Symbol('stack') }),
  numberStack: () => Object.assign(new Error('text of it'), { stack: 1 }),
  constructorThrows: () => evil('constructor'),
  deepCauses: () => chain(100_000),
  circularCauses: circle,
  causeOfItself: () => { const error = new Error('text of it'); error.cause = error; return error; },
  proxyCause: () => new Error('text of it', { cause: new Proxy({}, traps) }),
  evilErrors: () => evil('errors', new AggregateError([no], 'text of it')),
  deepProperty: () => {
    let deep = {};
    for (let at = 0; at < 100_000; at++) deep = { deep };
    return Object.assign(new Error('text of it'), { deep });
  },
  longMessage: () => new Error('text of it ' + 'x'.repeat(100_000_000)),
  longText: () => 'text of it ' + 'x'.repeat(100_000_000),
  longName: () => Object.assign(new Error('text of it'), { name: 'x'.repeat(10_000_000) }),
  promise: () => Promise.reject(new Error('text of it')),
  httpErrorCause: () => evil('cause', new HttpError(500, 'text of it', { code: 'HANDLER_OWN' })),
  httpErrorStack: () => evil('stack', new HttpError(500, 'text of it', { code: 'HANDLER_OWN' })),
  httpErrorCode: () => evil('code', new HttpError(500, 'text of it')),
  httpErrorStatus: () => evil('status', new HttpError(500, 'text of it')),
  httpErrorObjectCode: () => new HttpError(500, 'text of it', { code: { toJSON: no } }),
  httpErrorLong: () => new HttpError(500, 'text of it ' + 'x'.repeat(100_000_000), { code: 'HANDLER_OWN' }),
  httpErrorSymbol: () => Object.assign(new HttpError(500, ''), { message: Symbol('text of it') }),
};

const detached = (bytes = new Uint8Array(8)) => {
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
  return bytes;
};
const floats = (shape, bytes) => ({ y: { dtype: 'float32', shape, bytes } });
const tensors = {
  tooShort: floats([2], new Uint8Array(4)),
  tooLong: floats([2], new Uint8Array(12)),
  scalar: floats([], new Uint8Array(8)),
  otherArray: floats([2], new Int32Array(2)),
  doubles: floats([4], new Float64Array(2)),
  numbers: floats([2], [1, 2]),
  buffer: floats([2], new ArrayBuffer(8)),
  text: floats([2], '12345678'),
  NaN: floats([NaN], new Uint8Array(8)),
  half: floats([0.5], new Uint8Array(2)),
  negative: floats([-2, -1], new Uint8Array(8)),
  huge: floats([2 ** 53], new Uint8Array(8)),
  product: floats([2 ** 40, 2 ** 40], new Uint8Array(8)),
  infinite: floats([Infinity], new Uint8Array(8)),
  textSize: floats(['2'], new Uint8Array(8)),
  bigintSize: floats([2n], new Uint8Array(8)),
  symbolSize: floats([Symbol('2')], new Uint8Array(8)),
  sparseShape: floats(new Array(2), new Uint8Array(4)),
  manySizes: floats(new Array(100_000).fill(1), new Uint8Array(4)),
  detached: floats([2], detached()),
  unknownDtype: { y: { dtype: 'complex64', shape: [1], bytes: new Uint8Array(8) } },
  inherited: { y: { dtype: 'constructor', shape: [1], bytes: new Uint8Array(8) } },
  valuesOfFloats: { y: { dtype: 'float32', shape: [2], values: [1, 2] } },
  bytesOfStrings: { y: { dtype: 'string', shape: [1], bytes: new Uint8Array(8) } },
  fewStrings: { y: { dtype: 'string', shape: [2], values: [new Uint8Array(1)] } },
  sparseStrings: { y: { dtype: 'string', shape: [2], values: new Array(2) } },
  numberStrings: { y: { dtype: 'string', shape: [1], values: [1] } },
};

const shared = () => {
  const bytes = new Uint8Array(new SharedArrayBuffer(8));
  bytes.set(new Uint8Array(Float32Array.of(1, 2).buffer));
  return bytes;
};
const good = {
  floats: floats([2], Float32Array.of(1, 2)),
  shared: floats([2], shared()),
  view: floats([2], new DataView(Float32Array.of(1, 2).buffer)),
  strings: { y: { dtype: 'string', shape: [2], values: ['a', Buffer.from('b')] } },
};

const wrong = {
  nothing: () => undefined,
  function: () => no,
  symbol: () => Symbol('text'),
  asyncFunction: () => streams.empty,
  toJSON: () => ({ toJSON: () => undefined }),
  Response: () => new Response('text', { status: 201 }),
  emptyResponse: () => new Response(null, { status: 204 }),
  Blob: () => new Blob(['text']),
  File: () => new File(['text'], 'name'),
  FormData: () => new FormData(),
  Headers: () => new Headers({ a: 'b' }),
  Request: () => new Request('http://127.0.0.1'),
  ArrayBuffer: () => new ArrayBuffer(8),
  Map: () => new Map([[1, 2]]),
  generator: () => (function* () { yield 'text'; })(),
  detached,
  detachedBuffer: () => detached(Buffer.from(new ArrayBuffer(8))),
  detachedElements: () => ({ floats: detached(new Float32Array(2)) }),
};

const wrongPieces = [1, null, undefined, {}, [1, 2], true, 1n, Symbol('x'), new ArrayBuffer(2), new Float32Array(1), detached()];
const kept = new Uint8Array(65_536);
const streams = {
  first: async function* (index) { yield wrongPieces[index]; },
  later: async function* (index) { yield 'begun '; yield wrongPieces[index]; },
  reused: async function* () { for (let at = 0; at < 100; at++) { kept.fill(at); yield kept; } },
  empty: async function* () { yield ''; yield new Uint8Array(0); yield 'rest'; },
};

export const handler = async (data, context) => {
  const { kind, name, index } = JSON.parse(Buffer.from(data).toString());
  if (kind === 'names') return Object.keys({ thrown, tensors, good, wrong }[name]);
  if (kind === 'thrown') {
    const error = thrown[name]();
    if (name === 'promise') await error;
    throw error;
  }
  if (kind === 'streamThrown') return (async function* () { throw thrown[name](); })();
  if (kind === 'logged') { context.log.error({ err: thrown[name]() }, 'logged'); return 'logged'; }
  if (kind === 'tensors') return tensors[name];
  if (kind === 'good') return good[name];
  if (kind === 'wrong') return wrong[name]();
  if (kind === 'wrongBody') return { body: wrong[name](), contentType: 'text/plain' };
  if (kind === 'predicted') return context.predict({ x: tensors[name].y });
  if (kind === 'stream') return { body: streams[name](index), contentType: 'text/plain' };
  return context.predict({ x: { dtype: 'float32', shape: [1], bytes: Float32Array.of(4) } });
};
`;

const start = useRuntimes();
let runtime: RuntimeProcess;
beforeAll(async () => {
  const { basePath } = fixtureModel('half_plus_two');
  runtime = await start(
    { copies: { half_plus_two: basePath }, files: { 'code/inference.mjs': HANDLER } },
    { SAGEMAKER_TFS_REQUEST_TIMEOUT_SECONDS: '20' },
  );
});

interface Asked {
  readonly kind: string;
  readonly name?: string;
  readonly index?: number;
}

const send = (asked: Asked, accept?: string) =>
  fetch(`${runtime.url}/invocations`, {
    method: 'POST',
    body: JSON.stringify(asked),
    headers: accept ? { Accept: accept } : {},
  });

async function ask(asked: Asked, accept?: string): Promise<{ status: number; text: string }> {
  const response = await send(asked, accept);
  return { status: response.status, text: await response.text() };
}

const names = async (name: string) =>
  JSON.parse((await ask({ kind: 'names', name })).text) as string[];

const honest = () => ask({ kind: 'honest' });
const right = { status: 200, text: '{"predictions":[5.0]}' };

async function nothingInFlight(): Promise<void> {
  await until(async () => {
    const page = await (await fetch(`${runtime.url}/metrics`)).text();
    return /^sagemaker_tfs_requests_in_flight 0$/m.test(page);
  });
}

const failure = (text: string | RegExp) => ({
  status: 500,
  text: expect.stringMatching(new RegExp(`"error":"[^]*${text}[^]*"code":"HANDLER_`)),
});

test.each(['thrown', 'streamThrown'])(
  'whatever is %s is answered with its text, in bounded length, and logged',
  async (kind) => {
    const all = await names('thrown');
    expect(all.length).toBeGreaterThan(40);
    for (const name of all) {
      const { status, text } = await ask({ kind, name });
      expect([name, status]).toEqual([name, 500]);
      const answer = JSON.parse(text) as { error: string; code: string };
      expect(answer.code).toMatch(/^HANDLER_/);
      expect(text.length).toBeLessThan(10_000);
      expect(answer.error.length).toBeGreaterThan(0);
      if (/text of it/.test(HANDLER.split(`  ${name}: `)[1]?.split('\n')[0] ?? '')) {
        expect([name, answer.error]).toEqual([name, expect.stringContaining('text of it')]);
      }
      expect([name, await honest()]).toEqual([name, right]);
    }
    await nothingInFlight();
    for (const line of runtime.output().split('\n')) expect(line.length).toBeLessThan(200_000);
  },
);

test('a handler can log whatever it caught', async () => {
  for (const name of await names('thrown')) {
    if (name === 'promise') continue;
    expect([name, await ask({ kind: 'logged', name })]).toEqual([
      name,
      { status: 200, text: 'logged' },
    ]);
  }
  await nothingInFlight();
});

describe.each(['tensors', 'predicted'])('tensors that are none, %s', (kind) => {
  test.each(['application/json', 'application/x-npy', 'text/csv', 'application/x-tfrecord'])(
    'are refused as %s',
    async (accept) => {
      for (const name of await names('tensors')) {
        const { status, text } = await ask({ kind, name }, accept);
        expect([name, status, JSON.parse(text)]).toEqual([
          name,
          500,
          {
            code: 'HANDLER_FAILED',
            error: expect.stringMatching(/^the handler failed: its (in|out)put "[xy]": ./),
          },
        ]);
      }
      expect(await honest()).toEqual(right);
      await nothingInFlight();
    },
  );
});

test('tensors over any memory that holds their elements are answered', async () => {
  for (const name of ['floats', 'shared', 'view']) {
    const { status, text } = await ask({ kind: 'good', name });
    expect([name, status, JSON.parse(text)]).toEqual([name, 200, { predictions: [1, 2] }]);
  }
  const { text } = await ask({ kind: 'good', name: 'strings' });
  expect(JSON.parse(text)).toEqual({ predictions: ['a', 'b'] });
});

test.each(['wrong', 'wrongBody'])(
  'what is no answer is refused by its name, as %s',
  async (kind) => {
    const plainKinds = {
      emptyResponse: 'Response',
      asyncFunction: 'function',
      generator: 'Generator',
    };
    const called: Record<string, string> = { ...plainKinds, toJSON: 'object' };
    for (const name of await names('wrong')) {
      // A response without a body is an object like any other.
      if (kind === 'wrongBody' && name === 'nothing') continue;
      const { status, text } = await ask({ kind, name });
      const { error, code } = JSON.parse(text) as Record<string, string>;
      expect([name, status, code]).toEqual([name, 500, 'HANDLER_FAILED']);
      const form = `JSON has no form for the ${called[name] ?? name} that it returned. Return `;
      const otherwise = /returned nothing|memory of an array that it returned was transferred/;
      expect([name, error]).toEqual([
        name,
        /nothing|detached/.test(name)
          ? expect.stringMatching(otherwise)
          : expect.stringContaining(form),
      ]);
    }
    expect(await honest()).toEqual(right);
  },
);

describe('streams', () => {
  const kinds = Array.from({ length: 11 }, (_, index) => index);

  test.each(kinds)('a first piece of a wrong type is an error (%i)', async (index) => {
    expect(await ask({ kind: 'stream', name: 'first', index })).toEqual(
      failure('a piece of its stream is of type|was transferred'),
    );
  });

  test.each(kinds)('a later one breaks the connection off (%i)', async (index) => {
    const asked = { kind: 'stream', name: 'later', index };
    await expect(send(asked).then((response) => response.text())).rejects.toThrow();
    expect(await honest()).toEqual(right);
  });

  test('a buffer that is filled again is sent as it was', async () => {
    const response = await send({ kind: 'stream', name: 'reused' });
    const bytes = Buffer.from(await response.arrayBuffer());
    const pieces = Array.from({ length: 100 }, (_, at) => Buffer.alloc(65_536, at));
    expect(bytes.equals(Buffer.concat(pieces))).toBe(true);
  });

  test('empty pieces are nothing', async () => {
    expect(await ask({ kind: 'stream', name: 'empty' })).toEqual({ status: 200, text: 'rest' });
  });
});
