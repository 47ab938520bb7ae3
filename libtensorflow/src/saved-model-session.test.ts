import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  deadlineIn,
  isNumeric,
  numericTensor,
  stringTensor,
  type Tensor,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import { fixtureModel } from '../../test/fixtures/index.ts';
import { LibTensorFlowError, SavedModelSession } from './index.ts';

const FIXTURES = join(__dirname, '..', 'fixtures');
const opened: SavedModelSession[] = [];

async function open(directory: string, options = {}): Promise<SavedModelSession> {
  const session = await SavedModelSession.load(directory, options);
  opened.push(session);
  return session;
}

const openFixture = (name: string) => open(fixtureModel(name).directory);
const openSameTensor = () => open(join(FIXTURES, 'same_tensor'));
const openKeepsInput = () => open(join(FIXTURES, 'keeps_input'));

function floats(...values: number[]): Tensor {
  return numericTensor('float32', [values.length], Float32Array.from(values));
}

function numbersOf(tensor: Tensor | undefined): number[] {
  if (!tensor || !isNumeric(tensor)) throw new Error('not a numeric tensor');
  return [...new Float32Array(tensor.bytes.slice().buffer)];
}

function textsOf(tensor: Tensor | undefined): string[] {
  if (!tensor || isNumeric(tensor)) throw new Error('not a string tensor');
  return tensor.values.map((value) => Buffer.from(value).toString());
}

/** Keeps a run of the fixture `busy` going for a while. */
const steps = (count: number): TensorMap => ({
  iterations: numericTensor('int64', [], BigInt64Array.of(BigInt(count))),
});

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** What a rejected promise was rejected with. */
async function failure(promise: Promise<unknown>): Promise<LibTensorFlowError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof LibTensorFlowError) return error;
  throw new Error('no LibTensorFlowError', { cause: error });
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((session) => session.close()));
});

describe('what a session tells about its model', () => {
  it('lists the devices that TensorFlow has', async () => {
    const { devices } = await openSameTensor();
    expect(devices[0]).toMatchObject({ name: 'CPU:0', type: 'CPU' });
    expect(devices[0]?.memoryBytes).toBeGreaterThan(0);
  });

  it('lists the signatures with dtypes and shapes', async () => {
    const { signatures } = await openSameTensor();
    expect(signatures.serving_default).toMatchObject({
      key: 'serving_default',
      methodName: 'tensorflow/serving/predict',
      inputs: { x: { dtype: 'float32', shape: [-1] } },
      outputs: { a: { dtype: 'float32', shape: [-1] } },
    });
  });

  it('has the MetaGraphDef without its graphs', async () => {
    const { metaGraph } = await openSameTensor();
    expect(metaGraph.metaInfoDef?.tags).toEqual(['serve']);
    expect(metaGraph.graphDef).toBeUndefined();
    expect(metaGraph.objectGraphDef).toBeUndefined();
  });

  it('loads the MetaGraph with the tags asked for', async () => {
    const { directory } = fixtureModel('two_tag_sets');
    const serve = await open(directory);
    const train = await open(directory, { tags: ['train'] });
    expect(Object.keys(train.signatures)).not.toEqual(Object.keys(serve.signatures));
  });
});

describe('outputs', () => {
  it('are all of the signature by default, and only those asked for otherwise, in that order', async () => {
    const session = await openSameTensor();
    const all = await session.run('serving_default', { x: floats(1) });
    const some = await session.run('serving_default', { x: floats(1) }, { outputs: ['x', 'a'] });
    expect(Object.keys(all.outputs)).toEqual(['a', 'b', 'x']);
    expect(Object.keys(some.outputs)).toEqual(['x', 'a']);
  });

  /** Few numbers are copied, many are views on TensorFlow's memory. */
  const COUNTS = [2, 10_000];
  const all = (count: number, value: number) => new Array<number>(count).fill(value);

  it.each(COUNTS)(
    'can be an input, and each can be released more than once (%i numbers)',
    async (count) => {
      const session = await openSameTensor();
      const result = await session.run('serving_default', { x: floats(...all(count, 3)) });
      expect(numbersOf(result.outputs.x)).toEqual(all(count, 3));
      expect(numbersOf(result.outputs.b)).toEqual(all(count, 6));
      result.release();
      expect(() => result.release()).not.toThrow();
    },
  );

  it.each(COUNTS)(
    'stay valid after later runs and after the session is closed (%i numbers)',
    async (count) => {
      const session = await openSameTensor();
      const first = await session.run('serving_default', { x: floats(...all(count, 1)) });
      for (let i = 0; i < 50; i++) {
        (await session.run('serving_default', { x: floats(...all(count, 7)) })).release();
      }
      await session.close();
      expect(numbersOf(first.outputs.a)).toEqual(all(count, 2));
      first.release();
    },
  );

  it('of no elements have their shape', async () => {
    const session = await openSameTensor();
    const { outputs } = await session.run('serving_default', { x: floats() });
    expect(outputs.a).toMatchObject({ dtype: 'float32', shape: [0] });
    expect(numbersOf(outputs.a)).toEqual([]);
  });
});

describe('inputs', () => {
  it('may be kept by the model beyond the run, numbers and long strings alike', async () => {
    const session = await openKeepsInput();
    const long = 'long '.repeat(1000);
    for (const round of [1, 2, 3]) {
      const text = stringTensor([2], [`${round}`, long + round]);
      (await session.run('keep', { text, numbers: floats(round) })).release();
    }
    const { outputs } = await session.run('kept', {});
    expect(textsOf(outputs.text)).toEqual(['3', `${long}3`]);
    expect(numbersOf(outputs.numbers)).toEqual([3]);
  });

  it('may lie at any offset of a larger buffer', async () => {
    const session = await openSameTensor();
    const message = Buffer.concat([Buffer.from('odd'), Buffer.from(Float32Array.of(5).buffer)]);
    const x = numericTensor('float32', [1], message.subarray(3));
    const { outputs } = await session.run('serving_default', { x });
    expect(numbersOf(outputs.a)).toEqual([10]);
  });
});

describe('a call that does not fit the signature', () => {
  const cases: readonly [string, string, TensorMap, string, string][] = [
    ['an unknown signature', 'nope', {}, 'UNKNOWN_SIGNATURE', 'only "serving_default"'],
    [
      'an unknown input',
      'serving_default',
      { x: floats(1), y: floats(1) },
      'UNKNOWN_INPUT',
      'no input "y", only "x" (float32 [-1])',
    ],
    ['a missing input', 'serving_default', {}, 'MISSING_INPUT', 'input "x"'],
    [
      'an input whose bytes do not fill its shape',
      'serving_default',
      { x: { dtype: 'float32', shape: [2], bytes: new Uint8Array(4) } },
      'WRONG_SHAPE',
      'needs 8 bytes, got 4',
    ],
    [
      'an input of negative size',
      'serving_default',
      { x: { dtype: 'float32', shape: [-1], bytes: new Uint8Array(4) } },
      'WRONG_SHAPE',
      'shape [-1]',
    ],
  ];

  it.each(cases)('%s', async (_, signature, inputs, code, message) => {
    const session = await openSameTensor();
    const error = await failure(session.run(signature, inputs));
    expect([error.code, error.message]).toEqual([code, expect.stringContaining(message)]);
  });

  it('an unknown output', async () => {
    const session = await openSameTensor();
    const wanted = { outputs: ['nope'] };
    const error = await failure(session.run('serving_default', { x: floats(1) }, wanted));
    expect([error.code, error.message]).toEqual([
      'UNKNOWN_OUTPUT',
      expect.stringContaining('no output "nope", only "a" (float32 [-1])'),
    ]);
  });

  it('an output of a dtype that is not carried', async () => {
    const session = await openFixture('complex_output');
    const [signature] = Object.values(session.signatures);
    const inputs = Object.fromEntries(
      Object.keys(signature?.inputs ?? {}).map((name) => [name, floats(1, 2)]),
    );
    const error = await failure(session.run(signature?.key ?? '', inputs));
    expect([error.code, error.message]).toEqual([
      'WRONG_DTYPE',
      expect.stringContaining('DT_COMPLEX64, which is not supported'),
    ]);
  });

  it('a sparse input', async () => {
    const session = await openFixture('sparse_input');
    const [signature] = Object.values(session.signatures);
    const [name = ''] = Object.keys(signature?.inputs ?? {});
    const error = await failure(session.run(signature?.key ?? '', { [name]: floats(1) }));
    expect(error.message).toContain('sparse or composite tensor');
  });
});

describe('a run that fails', () => {
  it("gives TensorFlow's message and code, and the session continues", async () => {
    const session = await openFixture('failing_assert');
    const error = await failure(session.run('serving_default', { x: floats(4, -1) }));
    expect(error).toMatchObject({ code: 'RUN_FAILED', tfCode: 3 });
    expect(error.message).toContain('x must not be negative');
    const { outputs } = await session.run('serving_default', { x: floats(4, 9) });
    expect(numbersOf(outputs.root)).toEqual([2, 3]);
  });

  it('because variables were not restored says how to export the model', async () => {
    const session = await openFixture('broken_variables');
    const x = numericTensor('float32', [1, 4], new Float32Array(4));
    const error = await failure(session.run('serving_default', { x }));
    expect(error.message).toContain('Could not find variable');
    expect(error.message).toContain('model.export()');
  });
});

describe('several at the same time', () => {
  it('sessions and runs do not mix up their answers', async () => {
    const sessions = await Promise.all([openSameTensor(), openSameTensor(), openSameTensor()]);
    const runs = Array.from({ length: 300 }, async (_, i) => {
      const session = sessions[i % 3] as SavedModelSession;
      const result = await session.run('serving_default', { x: floats(i) });
      const [a] = numbersOf(result.outputs.a);
      result.release();
      return a;
    });
    expect(await Promise.all(runs)).toEqual(Array.from({ length: 300 }, (_, i) => 2 * i));
  });

  it('leave the event loop and a worker thread free', async () => {
    const session = await openFixture('busy');
    const order: string[] = [];
    const runs = Array.from({ length: 8 }, () =>
      session.run('serving_default', steps(20_000)).then(() => order.push('run')),
    );
    const { stat } = await import('node:fs/promises');
    await stat(FIXTURES).then(() => order.push('file'));
    await Promise.all(runs);
    expect(order.indexOf('file')).toBeLessThan(order.length - 1);
    expect(order).toHaveLength(9);
  });
});

describe('aborting', () => {
  it('before the call starts nothing', async () => {
    const session = await openSameTensor();
    const signal = AbortSignal.abort(new Error('gone'));
    await expect(session.run('serving_default', { x: floats(1) }, { signal })).rejects.toThrow(
      'gone',
    );
  });

  it('while it runs or waits rejects at once, and the session continues', async () => {
    const session = await openFixture('busy');
    const controller = new AbortController();
    const { signal } = controller;
    const runs = Array.from({ length: 8 }, () =>
      session.run('serving_default', steps(30_000), { signal }),
    );
    const settled = Promise.allSettled(runs);
    setImmediate(() => controller.abort(new Error('gone')));
    for (const outcome of await settled) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { message: 'gone' } });
    }
    const result = await session.run('serving_default', steps(1));
    expect(Object.keys(result.outputs)).toEqual(['value']);
  });
});

describe.each([
  ['of its own', {}],
  ['of the caller', { interOpThreads: -1, intraOpThreads: 1 }],
  ['of the caller, where others compute', { interOpThreads: -1 }],
])('a run that never ends, in a thread %s', (_, threads) => {
  it('ends at its deadline, and leaves its place to others', async () => {
    const session = await SavedModelSession.load(fixtureModel('busy').directory, threads);
    // More of them than there are places.
    const runs = Array.from({ length: 8 }, () =>
      session.run('serving_default', steps(2 ** 53), { signal: deadlineIn(300) }),
    );
    for (const run of runs) {
      // DEADLINE_EXCEEDED
      expect(await failure(run)).toMatchObject({ code: 'RUN_FAILED', tfCode: 4 });
    }
    const { outputs } = await session.run('serving_default', steps(1), {
      signal: deadlineIn(60_000),
    });
    expect(Object.keys(outputs)).toEqual(['value']);
    // Waits for what runs.
    await session.close();
  });
});

describe('aborting a run that waits for its turn', () => {
  it('frees its inputs at once, while the runs before it continue', async () => {
    const session = await openFixture('busy');
    const other = await openSameTensor();
    let ended = 0;
    const before = Array.from({ length: 3 }, () =>
      session.run('serving_default', steps(100_000)).finally(() => {
        ended += 1;
      }),
    );
    const controller = new AbortController();
    const waiting = () => {
      const x = numericTensor('float32', [1_000_000], new Float32Array(1_000_000));
      const run = other.run('serving_default', { x }, { signal: controller.signal });
      return { run, inputs: new WeakRef(x) };
    };
    const { run, inputs } = waiting();
    controller.abort(new Error('gone'));
    await expect(run).rejects.toThrow('gone');
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
    expect(inputs.deref()).toBeUndefined();
    expect(ended).toBe(0);
    await Promise.all(before);
  });
});

describe('closing', () => {
  it('waits for runs in flight', async () => {
    const session = await openFixture('busy');
    const runs = Array.from({ length: 5 }, () => session.run('serving_default', steps(5_000)));
    const closed = session.close();
    const results = await Promise.all(runs);
    await closed;
    expect(results).toHaveLength(5);
  });

  it('can be done twice; a run afterwards is refused', async () => {
    const session = await openSameTensor();
    await Promise.all([session.close(), session.close()]);
    await session.close();
    const error = await failure(session.run('serving_default', { x: floats(1) }));
    expect(error.code).toBe('SESSION_CLOSED');
  });
});
