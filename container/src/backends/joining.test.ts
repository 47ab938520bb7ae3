/** What the joining backend makes of the calls that come to it, before a backend that notes them. */
import { BatchThreads } from '@sagemaker-tfs/libtensorflow/joining';
import { numericTensor, type SignatureMap, type TensorMap } from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';
import { until } from '../testing/runtime-process.ts';
import { ConnectionLost } from '../transport/connection-lost.ts';
import type { BackendRequest, ExamplesReply, ExamplesRequest } from './backend.ts';
import { type JoinableBackend, JoiningBackend } from './joining.ts';

const BATCHING = {
  maxBatchSize: 4,
  timeoutMicros: 5_000,
  threads: 1,
  maxEnqueued: 1_000,
  pads: false,
  allowedSizes: [],
};
const MODEL = { name: 'm' };

function signaturesOf(shape: readonly number[]): SignatureMap {
  const spec = { tensorName: 'x:0', dtype: 'float32', dtypeEnum: 1, shape } as const;
  const signature = { methodName: '', inputs: { x: spec }, outputs: { y: spec } };
  return { run: { key: 'run', ...signature }, count: { key: 'count', ...signature } };
}

// No batch is looked at again.
beforeEach(() => {
  jest.spyOn(Math, 'random').mockReturnValue(0.999);
});
afterEach(() => jest.restoreAllMocks());

const values = (inputs: TensorMap) => {
  const { x } = inputs;
  if (!x || !('bytes' in x)) throw new Error('no input');
  const { bytes } = x;
  return [...new Float32Array(bytes.slice().buffer)];
};

const rows = (...numbers: number[]): TensorMap => ({
  x: numericTensor('float32', [numbers.length, 1], Float32Array.from(numbers)),
});

/** Answers its inputs; ends where one of them is -1, fails where one is -2. What it answers is known to be rows. */
async function backends(shape = [-1, 1], batching = {}) {
  const calls: BackendRequest[] = [];
  const examples: ExamplesRequest[] = [];
  const hooks = {
    before: async () => {},
    version: () => '1',
    answer: (numbers: readonly number[], _method: string): ExamplesReply => ({
      regressions: numbers,
    }),
    onAlone: jest.fn(),
  };
  const signatures = signaturesOf(shape);
  const backend: JoinableBackend = {
    transport: 'grpc',
    async predict(request) {
      calls.push(request);
      await hooks.before();
      request.signal?.throwIfAborted();
      const sent = values(request.inputs);
      if (sent.includes(-1)) throw gone();
      if (sent.includes(-2)) throw new ServingError('MODEL_FAILED', `of ${sent}`, { status: 400 });
      return { outputs: { y: request.inputs.x as never }, version: hooks.version() };
    },
    async examples(request) {
      examples.push(request);
      const texts = request.examples.map((one) => Buffer.from(one).toString());
      if (texts.includes('bad')) throw new ServingError('BAD_INPUT', `of ${texts}`);
      return { ...hooks.answer(texts.map(Number), request.method), version: '7' };
    },
    signatures: async () => signatures,
    status: async () => [],
    forget: () => undefined,
    close: async () => undefined,
  };
  const joining = new JoiningBackend(backend, {
    batching: { ...BATCHING, ...batching },
    threads: new BatchThreads(1),
    maxRows: 1_000,
    writing: async () => new Set(['count']),
    listeners: { onAlone: hooks.onAlone },
  });
  const ask = async (inputs: TensorMap, signal?: AbortSignal) => {
    const { outputs, version } = await joining.predict({
      model: MODEL,
      signature: 'run',
      inputs,
      signal,
    });
    return { values: values({ x: outputs.y as never }), version };
  };
  const known = Array.from({ length: 5 }, () => [1, 2, 3, 4].map((value) => ask(rows(value))));
  await Promise.all(known.flat());
  const many = Array.from({ length: 42 }, (_, at) => at);
  for (let times = 0; times < 3; times++) await ask(rows(...many));
  calls.length = 0;
  const regress = (...texts: string[]) => send('regress', texts);
  const send = (method: 'classify' | 'regress', texts: readonly string[]) => {
    const bytes = texts.map((text) => Buffer.from(text));
    return joining.examples({ model: MODEL, method, signature: 'run', examples: bytes });
  };
  return { joining, ask, regress, send, calls, examples, hooks };
}

function gone(): ServingError {
  return new ServingError('MODEL_SERVER_GONE', 'gone', { cause: new ConnectionLost('gone') });
}

test('calls at the same time are one call, and its version is that of each', async () => {
  const { ask, calls } = await backends();
  const answers = await Promise.all([1, 2, 3, 4].map((value) => ask(rows(value))));
  expect(answers).toEqual([1, 2, 3, 4].map((value) => ({ values: [value], version: '1' })));
  expect(calls.map(({ batch }) => batch)).toEqual([{ calls: 4, isAfterLoss: false }]);
});

test('a call that ends the model server runs alone the second time, as those do that were with it', async () => {
  const { ask, calls } = await backends();
  const settled = await Promise.allSettled([1, -1, 3].map((value) => ask(rows(value))));
  expect(settled).toMatchObject([
    { value: { values: [1] } },
    { reason: { code: 'MODEL_SERVER_GONE' } },
    { value: { values: [3] } },
  ]);
  expect(calls.map(({ inputs, batch }) => [values(inputs), batch?.isAfterLoss])).toEqual([
    [[1, -1, 3], false],
    [[1], true],
    [[-1], true],
    [[3], true],
  ]);
});

test('each call has its own error, and none of another', async () => {
  const { ask } = await backends();
  const settled = await Promise.allSettled([1, -2, 3, -2].map((value) => ask(rows(value))));
  expect(settled).toMatchObject([
    { value: { values: [1] } },
    { reason: { message: 'of -2' } },
    { value: { values: [3] } },
    { reason: { message: 'of -2' } },
  ]);
});

test('what cannot be joined goes through as it is', async () => {
  const fixed = await backends([2, 1]);
  await Promise.all([fixed.ask(rows(1, 2)), fixed.ask(rows(3, 4))]);
  expect(fixed.calls.map(({ batch }) => batch)).toEqual([undefined, undefined]);
  const { joining, calls } = await backends();
  const other = { model: MODEL, signature: 'other', inputs: rows(1) };
  await joining.predict(other);
  expect(calls).toEqual([other]);
});

test('what writes is called once for each request, and never joined', async () => {
  const { joining, calls, examples } = await backends();
  const signature = 'count';
  const ask = (value: number) => joining.predict({ model: MODEL, signature, inputs: rows(value) });
  await Promise.allSettled([1, 2, -2, 4, 5].map(ask));
  expect(calls.map(({ inputs }) => values(inputs))).toEqual([[1], [2], [-2], [4], [5]]);
  const method = 'regress';
  const send = (text: string) =>
    joining.examples({ model: MODEL, method, signature, examples: [Buffer.from(text)] });
  await Promise.allSettled(['1', 'bad', '3'].map(send));
  expect(examples.map((one) => one.examples.map(String))).toEqual([['1'], ['bad'], ['3']]);
});

test('a call of many rows runs in batches, in order, and stops when its sender leaves', async () => {
  const { ask, calls, hooks } = await backends();
  const many = Array.from({ length: 22 }, (_, index) => index + 1);
  expect((await ask(rows(...many))).values).toEqual(many);
  expect(calls.map(({ inputs }) => values(inputs).length)).toEqual([4, 4, 4, 4, 4, 2]);
  calls.length = 0;
  const left = new AbortController();
  hooks.before = async () => {
    if (calls.length === 2) left.abort(new Error('left'));
  };
  await expect(ask(rows(...many), left.signal)).rejects.toThrow('left');
  expect(await ask(rows(5))).toMatchObject({ values: [5] });
  expect(calls).toHaveLength(3);
});

test('others come between the batches of a call of many rows', async () => {
  const { ask, calls, hooks } = await backends();
  hooks.before = () => new Promise((resolve) => setTimeout(resolve, 20));
  const big = ask(rows(...Array.from({ length: 40 }, () => 1)));
  await new Promise((resolve) => setImmediate(resolve));
  await Promise.all([ask(rows(2)), ask(rows(3))]);
  expect(calls.length).toBeLessThan(8);
  await big;
  expect(calls).toHaveLength(11);
});

test('a call of many rows that another version continues with is refused', async () => {
  const { ask, calls, hooks } = await backends();
  hooks.version = () => (calls.length > 1 ? '2' : '1');
  await expect(ask(rows(1, 2, 3, 4, 5))).rejects.toMatchObject({
    status: 503,
    message: expect.stringContaining('another version'),
  });
});

test('a call whose sender leaves while it waits is over at once', async () => {
  const { ask, calls, hooks } = await backends();
  let finish = () => {};
  const held = new Promise<void>((resolve) => {
    finish = resolve;
  });
  hooks.before = () => held;
  const first = ask(rows(1, 2, 3, 4));
  const left = new AbortController();
  const waiting = ask(rows(5), left.signal);
  await until(() => calls.length === 1);
  await new Promise((resolve) => setImmediate(resolve));
  left.abort(new Error('left'));
  await expect(waiting).rejects.toThrow('left');
  finish();
  expect((await first).values).toEqual([1, 2, 3, 4]);
});

test('rows that differ in a later dimension run apart, also where padding is asked for and changes the answers', async () => {
  const wide = (width: number): TensorMap => ({
    x: numericTensor('float32', [1, width], new Float32Array(width).fill(width)),
  });
  const apart = await backends([-1, -1]);
  await Promise.all([apart.ask(wide(1)), apart.ask(wide(2))]);
  expect(apart.calls).toHaveLength(2);
  const padded = await backends([-1, -1], { pads: true });
  const ask = () => Promise.all([padded.ask(wide(1)), padded.ask(wide(2))]);
  for (const widths of [
    [2, 1, 2],
    [1, 2],
  ]) {
    padded.calls.length = 0;
    expect((await ask()).map((answer) => answer.values)).toEqual([[1], [2, 2]]);
    // The first time shows that padding changes the answers.
    expect(padded.calls.map(({ inputs }) => inputs.x?.shape[1])).toEqual(widths);
  }
});

test('rows that padding would make huge run apart', async () => {
  const long = 6_000;
  const { ask, calls } = await backends([-1, -1, -1], { pads: true });
  const shaped = (shape: number[]): TensorMap => ({
    x: numericTensor('float32', shape, new Float32Array(long).fill(1)),
  });
  await Promise.all([ask(shaped([1, long, 1])), ask(shaped([1, 1, long]))]);
  expect(calls.map(({ inputs }) => inputs.x?.shape)).toEqual([
    [1, long, 1],
    [1, 1, long],
  ]);
});

test('tf.Examples are joined, parted, and fail by themselves', async () => {
  const { regress, examples } = await backends();
  for (let times = 0; times < 4; times++) {
    await Promise.all(['1', '2', '3', '4'].map((text) => regress(text)));
  }
  examples.length = 0;
  expect(await Promise.all([regress('1', '2'), regress('3')])).toEqual([
    { regressions: [1, 2], version: '7' },
    { regressions: [3], version: '7' },
  ]);
  expect(examples.map(({ batch }) => batch)).toEqual([{ calls: 2, isAfterLoss: false }]);
  const settled = await Promise.allSettled([regress('1'), regress('bad'), regress('3')]);
  expect(settled).toMatchObject([
    { value: { regressions: [1] } },
    { reason: { message: 'of bad' } },
    { value: { regressions: [3] } },
  ]);
});

const mean = (numbers: readonly number[]) =>
  numbers.reduce((sum, one) => sum + one, 0) / numbers.length;

test.each([
  [
    'regress',
    (numbers: readonly number[]) => ({ regressions: numbers.map((one) => one - mean(numbers)) }),
  ],
  [
    'classify',
    (numbers: readonly number[]) => ({
      classifications: numbers.map((one) => [
        { label: Buffer.from('é'), score: one - mean(numbers) },
        { label: Buffer.of(0xff), score: 1 },
      ]),
    }),
  ],
] as const)(
  'tf.Examples whose results depend on each other have those of their own request: %s',
  async (method, answer) => {
    const { send, examples, hooks } = await backends();
    hooks.answer = answer;
    const requests = [['1', '2'], ['3'], ['40']];
    for (let times = 0; times < 5; times++) {
      examples.length = 0;
      const answers = await Promise.all(requests.map((texts) => send(method, texts)));
      expect(answers).toEqual(
        requests.map((texts) => ({ ...answer(texts.map(Number)), version: '7' })),
      );
    }
    expect(examples.map((one) => one.examples.length)).toEqual([2, 1, 1]);
    expect(hooks.onAlone.mock.calls.filter(([, , why]) => why === 'joined')).toEqual([
      ['m', 'run', 'joined'],
    ]);
  },
);

test.each(['regress', 'classify'] as const)(
  'tf.Examples are joined in no larger batches than were tried: %s',
  async (method) => {
    const { send, examples, hooks } = await backends([-1, 1], { maxBatchSize: 8 });
    const answer = (numbers: readonly number[], kind: string): ExamplesReply => {
      const scores = numbers.map((one) => (numbers.length > 4 ? 2 * one : one));
      if (kind === 'regress') return { regressions: scores };
      return { classifications: scores.map((score) => [{ label: Buffer.from('a'), score }]) };
    };
    hooks.answer = answer;
    const ask = (count: number) =>
      Promise.all(Array.from({ length: count }, (_, at) => send(method, [`${at + 1}`])));
    for (const count of [4, 4, 4, 4, 4, 4, 8, 8]) {
      examples.length = 0;
      expect(await ask(count)).toEqual(
        Array.from({ length: count }, (_, at) => ({ ...answer([at + 1], method), version: '7' })),
      );
    }
    expect(examples.map((one) => one.examples.length)).toEqual(new Array(8).fill(1));
    expect(hooks.onAlone.mock.calls.filter(([, , why]) => why === 'joined')).toEqual([
      ['m', 'run', 'joined'],
    ]);
  },
);

test('tf.Examples of classes are joined where they are rows', async () => {
  const { send, examples, hooks } = await backends();
  hooks.answer = (numbers) => ({
    classifications: numbers.map((score) => [
      { label: Buffer.from(`n${score}`), score },
      { label: Buffer.from('é'), score: 0.1 },
    ]),
  });
  for (let times = 0; times < 4; times++) {
    await Promise.all(['1', '2', '3', '4'].map((text) => send('classify', [text])));
  }
  examples.length = 0;
  const answers = await Promise.all([send('classify', ['1', '2']), send('classify', ['3'])]);
  expect(answers).toEqual(
    [[1, 2], [3]].map((numbers) => ({ ...hooks.answer(numbers, 'classify'), version: '7' })),
  );
  expect(examples).toHaveLength(1);
});
