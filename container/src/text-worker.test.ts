/** Large JSON and CSV read in a thread: the same tensors, the same errors, alone and in the runtime. */
import { pathToFileURL } from 'node:url';
import {
  decodeNpy,
  encodeNpy,
  encodeTfRecord,
  numericTensor,
  type TensorSpec,
  toNumbers,
} from '@sagemaker-tfs/tensors';
import { zipSync } from 'fflate';
import { fixtureModel } from '../../test/fixtures/index.ts';
import { type ResultsTask, takenResults } from './backends/rest/examples-thread.ts';
import type { ReplyTask } from './backends/rest/reply-thread.ts';
import { type ArrayTask, readArray } from './codecs/array-thread.ts';
import type { BodyTask, HandedRequest } from './codecs/body-thread.ts';
import type { DecodeContext, DecodedRequest } from './codecs/codec.ts';
import type { ExampleTask } from './codecs/example-thread.ts';
import { decodeRequest } from './codecs/registry.ts';
import { encodeExample } from './codecs/tf-example-writer.ts';
import { DEFAULT_DECODE_LIMITS } from './decode-limits.ts';
import { invoke } from './testing/invoke.ts';
import type { RuntimeProcess } from './testing/runtime-process.ts';
import { useRuntimes } from './testing/use-runtimes.ts';
import { type HandedTensors, takenOver } from './threads/handed-tensors.ts';
import { sourceEntry } from './threads/thread-entry.ts';
import { ThreadPool } from './threads/thread-pool.ts';

const signature: DecodeContext['signature'] = {
  key: 'serving_default',
  methodName: '',
  inputs: {
    x: { tensorName: 'x:0', dtype: 'float32', dtypeEnum: 1, shape: [-1, -1] },
    name: { tensorName: 'name:0', dtype: 'string', dtypeEnum: 7, shape: [-1] },
  },
  outputs: { y: { tensorName: 'y:0', dtype: 'float32', dtypeEnum: 1, shape: [-1] } },
};
const limits = { ...DEFAULT_DECODE_LIMITS, maxDecodedBytes: 1e9, maxImagePixels: 1e8 };
const jsonContext = { signature, contentType: 'application/json', limits };
const csvContext = { ...jsonContext, contentType: 'text/csv; header=present' };

/** The file as NumPy writes it of an array in Fortran order, whose elements lie in memory as these. */
function inFortranOrder(dtype: 'float32' | 'float64', shape: readonly number[], count: number) {
  const order = Array.from({ length: count }, (_, index) => index);
  const elements = dtype === 'float32' ? Float32Array.from(order) : Float64Array.from(order);
  const [head, ...data] = encodeNpy(numericTensor(dtype, shape, elements));
  const text = Buffer.from(head as Uint8Array).toString('latin1');
  const fortran = text.replace("'fortran_order': False, ", "'fortran_order': True,  ");
  return Buffer.concat([Buffer.from(fortran, 'latin1'), ...data]);
}

describe('a thread', () => {
  let pool: ThreadPool<BodyTask | ReplyTask | ResultsTask | ArrayTask | ExampleTask, unknown>;
  beforeAll(() => {
    pool = new ThreadPool(sourceEntry(pathToFileURL(`${__dirname}/text-worker.ts`)), 1);
  });
  afterAll(() => pool.close());

  test.each([
    [
      'json',
      jsonContext,
      '{"inputs": {"x": [[1, 2.5], [NaN, -1e-3]], "name": ["a", {"b64": "AP8="}]}}',
    ],
    ['json', jsonContext, '{"instances": [{"x": [1, 2], "name": "ä"}, {"x": [3, 4], "name": ""}]}'],
    ['json', jsonContext, '{"signature_name": "other", "instances": [1]}'],
    ['csv', csvContext, 'x,x,name\n1,2,a\n3,4,"b,c"\n'],
  ] as const)('gives what the main thread gives: %s %#', async (kind, context, text) => {
    const body = Buffer.from(text);
    const here = await decodeRequest(body, context);
    const answer = (await pool.run({ kind, body, context }, [])) as HandedRequest;
    const { pictures, ...handed } = answer;
    expect(pictures).toEqual([]);
    const there = { ...handed, inputs: await takenOver(handed.inputs) };
    const plain = (result: DecodedRequest) => ({
      ...result,
      inputs: Object.entries(result.inputs).map(([name, { dtype, shape, ...rest }]) => [
        name,
        dtype,
        shape,
        Object.values(rest)
          .flat()
          .map((bytes) => Buffer.from(bytes as Uint8Array).toString('hex')),
      ]),
    });
    expect(plain(there)).toEqual(plain(here));
  });

  test('gives the same errors', async () => {
    for (const text of ['{"inputs": {"x": [[1], [2, 3]]}}', '[1', '{"inputs": {"nobody": 1}}']) {
      const body = Buffer.from(text);
      const { code, message } = (await decodeRequest(body, jsonContext).catch((e) => e)) as {
        code: string;
        message: string;
      };
      const there = pool.run({ kind: 'json', body, context: jsonContext }, []);
      await expect(there).rejects.toMatchObject({ code, message });
    }
  });

  test('reads arrays, and refuses them as the main thread does', async () => {
    const task = (dtype: 'float32' | 'float64', shape: readonly number[]): ArrayTask => ({
      kind: 'array',
      body: inFortranOrder(dtype, shape, 6),
      name: 'x',
      signature,
      maxStrings: 10,
      where: 'the array',
    });
    for (const dtype of ['float32', 'float64'] as const) {
      const { x } = await takenOver((await pool.run(task(dtype, [2, 3]), [])) as HandedTensors);
      expect(x).toMatchObject({ dtype: 'float32', shape: [2, 3] });
      expect([...toNumbers(x as never)]).toEqual([0, 2, 4, 1, 3, 5]);
    }
    for (const bad of [task('float32', [1, 2, 3]), { ...task('float32', [2, 3]), name: 'name' }]) {
      const here = (await readArray(bad).catch((error) => error)) as Error & { code: string };
      const { code, message } = here;
      expect(code).toBe('BAD_INPUT');
      await expect(pool.run(bad, [])).rejects.toMatchObject({ code, message });
    }
  });

  test('a task that waits leaves the queue with its client; one that runs ends first', async () => {
    const body = Buffer.from(`[${'[1, "a"],'.repeat(100_000)}[1, "a"]]`);
    const task: BodyTask = { kind: 'json', body, context: jsonContext };
    const [running, waiting] = [new AbortController(), new AbortController()];
    const first = pool.run(task, [], running.signal).catch((error: Error) => error.message);
    const second = pool.run(task, [], waiting.signal).catch((error: Error) => error.message);
    const ended: string[] = [];
    void first.then(() => ended.push('first'));
    void second.then(() => ended.push('second'));
    running.abort(new Error('gone'));
    waiting.abort(new Error('gone too'));
    expect(await second).toBe('gone too');
    expect(ended).toEqual(['second']);
    expect(await first).toBe('gone');
    const answer = await pool.run(
      { ...task, body: Buffer.from('{"inputs": {"name": ["a"]}}') },
      [],
    );
    expect(answer).toMatchObject({ inputs: { name: { shape: [1] } } });
  });

  test('a body whose objects need more memory than a thread has is refused, and the next is read', async () => {
    const entry = sourceEntry(pathToFileURL(`${__dirname}/text-worker.ts`));
    const small = new ThreadPool<BodyTask, unknown>(entry, 1, { heapMegabytes: 64 });
    const task = (text: string): BodyTask => {
      return { kind: 'json', body: Buffer.from(text), context: jsonContext };
    };
    const objects = task(`[${'{"x": [[]]},'.repeat(1_000_000)}1]`);
    await expect(small.run(objects, [])).rejects.toMatchObject({ code: 'REQUEST_TOO_LARGE' });
    const answer = await small.run(task('{"inputs": {"name": ["a"]}}'), []);
    expect(answer).toMatchObject({ inputs: { name: { shape: [1] } } });
    await small.close();
  });

  test('checks tf.Examples, and refuses them as the main thread does', async () => {
    const feature = numericTensor('float32', [2], Float32Array.of(1, 2));
    const task = (body: Uint8Array): ExampleTask => ({
      kind: 'example',
      body,
      limits: { maxFeatures: 1, maxStrings: 1 },
      where: 'example 7',
    });
    expect(await pool.run(task(encodeExample({ a: feature })), [])).toBe(true);
    const cut = encodeExample({ a: feature }).slice(0, -1);
    await expect(pool.run(task(cut), [])).rejects.toMatchObject({
      code: 'BAD_INPUT',
      message: expect.stringMatching(/^example 7: /),
    });
    const many = encodeExample({ a: feature, b: feature });
    await expect(pool.run(task(many), [])).rejects.toMatchObject({ code: 'REQUEST_TOO_LARGE' });
  });

  test('reads results of classify', async () => {
    const body = Buffer.from('{"results": [[["\xff", 1.5], ["\xc3\xbc", NaN]], []]}', 'latin1');
    const task: ResultsTask = { kind: 'results', method: 'classify', body };
    const read = (await pool.run(task, [])) as HandedTensors;
    expect(await takenResults(read, 'classify')).toEqual({
      classifications: [
        [
          { label: Uint8Array.of(0xff), score: 1.5 },
          { label: Uint8Array.of(0xc3, 0xbc), score: Number.NaN },
        ],
        [],
      ],
    });
  });

  test('reads what a model server answers', async () => {
    const body = Buffer.from('{"outputs": [1.5, NaN]}');
    const how = { signature, outputs: undefined, maxStrings: 0 };
    const task: ReplyTask = { kind: 'reply', body, ...how };
    const outputs = await takenOver((await pool.run(task, [])) as HandedTensors);
    expect([...toNumbers(outputs.y as never)]).toEqual([1.5, Number.NaN]);
    const empty = { ...task, body: Buffer.from('{"outputs": []}') };
    const y = { ...(signature.outputs.y as TensorSpec), shape: [-1, -1] };
    const open = { ...empty, signature: { ...signature, outputs: { y } } };
    expect(await pool.run(open, [])).toBe('untold');
  });
});

describe('in the runtime', () => {
  const count = 200_000;
  const numbers = Array.from({ length: count }, (_, index) => index);
  const start = useRuntimes();
  let runtime: RuntimeProcess;
  beforeAll(async () => {
    runtime = await start({ copies: { half_plus_two: fixtureModel('half_plus_two').basePath } });
  });

  const ask = (transport: string, type: string, body: string | Uint8Array) =>
    invoke(runtime, {
      body,
      type,
      accept: 'application/x-npy',
      attributes: `tfs-transport=${transport}`,
    });

  test.each([
    ['grpc', 'application/json', `{"instances": [${numbers.join(', ')}]}`],
    ['rest', 'application/json', `{"instances": [${numbers.join(', ')}]}`],
    ['grpc', 'text/csv', numbers.join('\n')],
    ['rest', 'text/csv', numbers.join('\n')],
  ])('a body of more than a megabyte, over %s, as %s', async (transport, contentType, body) => {
    const response = await ask(transport, contentType, body);
    expect(response.status).toBe(200);
    const outputs = toNumbers(decodeNpy(Buffer.from(await response.arrayBuffer())) as never);
    expect(outputs).toHaveLength(count);
    expect(outputs[count - 1]).toBe((count - 1) / 2 + 3);
  });

  test.each(['application/x-npy', 'application/x-npz'])(
    'a large array of another dtype and order as %s, with /ping beside it',
    async (contentType) => {
      const file = inFortranOrder('float64', [2 ** 20, 1], 2 ** 20);
      const isNpz = contentType.endsWith('z');
      const body = isNpz ? zipSync({ 'x.npy': new Uint8Array(file) }) : file;
      const [response, ...pings] = await Promise.all([
        ask('grpc', contentType, body),
        ...Array.from({ length: 20 }, () => fetch(`${runtime.url}/ping`)),
      ]);
      expect(pings.map(({ status }) => status)).toEqual(Array(20).fill(200));
      expect(response.status).toBe(200);
      const outputs = toNumbers(decodeNpy(Buffer.from(await response.arrayBuffer())) as never);
      expect(outputs).toEqual(Float32Array.from({ length: 2 ** 20 }, (_, i) => i / 2 + 3));
    },
  );

  test('a large body of tf.Examples of another dtype', async () => {
    const records = numbers.slice(0, 40_000).map((number) => {
      const x = numericTensor('int64', [1], BigInt64Array.of(BigInt(number)));
      return encodeTfRecord(encodeExample({ x }));
    });
    const response = await ask('grpc', 'application/x-tfrecord', Buffer.concat(records.flat()));
    expect(response.status).toBe(200);
    const outputs = toNumbers(decodeNpy(Buffer.from(await response.arrayBuffer())) as never);
    expect(outputs).toEqual(Float32Array.from({ length: 40_000 }, (_, i) => i / 2 + 3));
  });

  test('an error in a large body names its place', async () => {
    const bad = `{"instances": [${numbers.join(', ')}, "text"]}`;
    const response = await ask('grpc', 'application/json', bad);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      code: 'BAD_INPUT',
      error: expect.stringContaining(`instances[${count}]`),
    });
  });
});
