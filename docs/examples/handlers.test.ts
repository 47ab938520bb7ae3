/** The handlers that the docs show, in the real runtime, with requests as their callers send them. */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { encodeNpy, numericTensor } from '@sagemaker-tfs/tensors';
import { prepareModelRoot, startRuntime } from 'sagemaker-tfs/development/serving';
import { fixtureModel } from '../../test/fixtures/index.ts';

const DIGITS = join(__dirname, '../../examples/digits');
const seven = readFileSync(join(DIGITS, 'samples/00000-7.jpg'));
const HALF_PLUS_TWO = fixtureModel('half_plus_two').basePath;
const black = encodeNpy(numericTensor('uint8', [1, 28, 28, 1], new Uint8Array(784)));

interface Answer {
  readonly status: number;
  readonly contentType: string | null;
  readonly body: Buffer;
}

/** Serves `model` with a handler of the docs and sends one body. */
async function ask(
  model: string,
  handler: string,
  contentType: string,
  body: string | Uint8Array,
): Promise<Answer> {
  const work = await mkdtemp(join(tmpdir(), 'docs-handlers-'));
  const root = await prepareModelRoot(model, join(__dirname, handler));
  try {
    const runtime = await startRuntime({
      modelDirectory: root.directory,
      log: join(work, 'runtime.log'),
    });
    try {
      const response = await fetch(`${runtime.url}/invocations`, {
        method: 'POST',
        // Accept is fetch's own, */*, which most clients send.
        headers: { 'Content-Type': contentType },
        body,
      });
      return {
        status: response.status,
        contentType: response.headers.get('Content-Type'),
        body: Buffer.from(await response.arrayBuffer()),
      };
    } finally {
      await runtime.stop();
    }
  } finally {
    await root.cleanUp();
    await rm(work, { recursive: true, force: true });
  }
}

const json = 'application/json';

test.each<[string, string, string, string | Uint8Array, unknown]>([
  ['handlers/ensemble.ts', HALF_PLUS_TWO, json, '{"x": [1, 2]}', { y: [3, 3.5] }],
  [
    'handlers/picture-from-json.ts',
    join(DIGITS, 'model'),
    json,
    JSON.stringify({ picture: seven.toString('base64') }),
    { name: 'seven', score: expect.closeTo(1, 3) },
  ],
  ['handlers/declared-bodies.ts', HALF_PLUS_TWO, json, '{"x": [1, 2]}', { halves: [3.5, 4] }],
  ['migration/json.ts', HALF_PLUS_TWO, json, '{"values": [10, 20]}', { scores: [3.5, 4] }],
  [
    'migration/csv.ts',
    fixtureModel('tf1_classifier').basePath,
    'text/csv',
    'name,width,length\na,1,2\nb,3,4\n',
    { predictions: [[3], [7]] },
  ],
  ['migration/own-call.ts', HALF_PLUS_TWO, json, '{"x": [1, 2]}', { y: [3.5, 4] }],
])('%s', async (handler, model, contentType, body, expected) => {
  const answer = await ask(model, handler, contentType, body);
  expect(answer.status).toBe(200);
  expect(answer.contentType).toBe('application/json');
  expect(JSON.parse(answer.body.toString())).toEqual(expected);
});

const HEAD = 'name,width,length';

test.each<[string, string, string, string[]]>([
  [
    'migration/json.ts',
    HALF_PLUS_TWO,
    json,
    ['{"values": ["a"]}', '{"values": [1, null]}', '{"values": "12"}', '{}', 'null', '[1]', 'no'],
  ],
  [
    'migration/csv.ts',
    fixtureModel('tf1_classifier').basePath,
    'text/csv',
    [
      'name,width,depth\na,1,2\n',
      `${HEAD}\na,1,\n`,
      `${HEAD}\na,1,two\n`,
      `${HEAD}\na,1\n`,
      `${HEAD}\n"a,1,2\n`,
    ],
  ],
  [
    'migration/own-call.ts',
    HALF_PLUS_TWO,
    json,
    ['{"x": "ab"}', '{"x": ["a"]}', '{"x": [null]}', '{}', 'null', '{"x": {"length": 1}}', 'no'],
  ],
])('%s refuses what the Python one refuses', async (handler, model, contentType, bodies) => {
  for (const body of bodies) {
    const { status } = await ask(model, handler, contentType, body);
    expect({ body, status }).toEqual({ body, status: 400 });
  }
});

test('a body that is no JSON is the fault of its caller', async () => {
  const answer = await ask(HALF_PLUS_TWO, 'handlers/declared-bodies.ts', json, 'no JSON');
  expect(answer.status).toBe(400);
  // Others read it in the same way.
  const handlers = [...handlersOf('handlers'), ...handlersOf('migration')];
  const own = handlers.filter((file) => readFileSync(file, 'utf8').includes('JSON.parse('));
  expect(own.map((file) => basename(file))).toEqual([]);
});

/** The handlers of a folder. */
function handlersOf(folder: string): string[] {
  return readdirSync(join(__dirname, folder)).map((name) => join(__dirname, folder, name));
}

describe("Triton's requests, by migration/kserve-v2.ts", () => {
  const handler = 'migration/kserve-v2.ts';
  const binary = (size: number) =>
    `application/vnd.sagemaker-triton.binary+json;json-header-size=${size}`;
  const bytes = (text: string) => Buffer.from(text, 'latin1');

  test('as tritonclient 2.73.0 writes JSON', async () => {
    const body =
      '{"inputs":[{"name":"x","shape":[2,1],"datatype":"FP32","data":[1.0,2.0]}],"outputs":[{"name":"y","parameters":{"binary_data":false}}]}';
    const answer = await ask(HALF_PLUS_TWO, handler, json, body);
    expect(JSON.parse(answer.body.toString())).toMatchObject({
      outputs: [{ name: 'y', datatype: 'FP32', shape: [2, 1], data: [3.5, 4] }],
    });
  });

  test('as tritonclient 2.73.0 writes binary', async () => {
    const head =
      '{"inputs":[{"name":"x","shape":[2,1],"datatype":"FP32","parameters":{"binary_data_size":8}}],"outputs":[{"name":"y","parameters":{"binary_data":true}}]}';
    const body = Buffer.concat([bytes(head), bytes('\0\0\x80?\0\0\0@')]);
    const answer = await ask(HALF_PLUS_TWO, handler, binary(head.length), body);
    const size = Number(/json-header-size=(\d+)$/.exec(answer.contentType ?? '')?.[1]);
    expect(JSON.parse(answer.body.subarray(0, size).toString())).toMatchObject({
      outputs: [{ name: 'y', shape: [2, 1], parameters: { binary_data_size: 8 } }],
    });
    const values = answer.body.subarray(size);
    expect([values.readFloatLE(0), values.readFloatLE(4), values.length]).toEqual([3.5, 4, 8]);
  });

  test('strings in binary, all outputs in binary', async () => {
    const head =
      '{"inputs":[{"name":"text","shape":[2],"datatype":"BYTES","parameters":{"binary_data_size":11}}],"parameters":{"binary_data_output":true}}';
    const body = Buffer.concat([bytes(head), bytes('\x01\0\0\0a\x02\0\0\0bc')]);
    const model = fixtureModel('strings').basePath;
    const answer = await ask(model, handler, binary(head.length), body);
    const size = Number(/json-header-size=(\d+)$/.exec(answer.contentType ?? '')?.[1]);
    const { outputs } = JSON.parse(answer.body.subarray(0, size).toString()) as {
      outputs: { name: string }[];
    };
    expect(outputs.map(({ name }) => name).sort()).toEqual(['length', 'upper']);
    const blob = answer.body.subarray(size).toString('latin1');
    expect(blob).toContain('\x01\0\0\0A\x02\0\0\0BC');
    expect(blob).toContain('\x01\0\0\0\x02\0\0\0');
  });

  test.each([
    ['no JSON', '{', 'no JSON'],
    ['an input that is none', '{"inputs":[null]}', 'an input has no name'],
    ['an output that is none', '{"inputs":[],"outputs":[null]}', "'outputs' that have names"],
    [
      'data that is no list',
      '{"inputs":[{"name":"x","shape":[1],"datatype":"FP32","data":5}]}',
      'x: its data is no list.',
    ],
    ['another datatype', '{"inputs":[{"name":"x","shape":[1],"datatype":"F"}]}', 'no datatype F'],
    [
      'too few values',
      '{"inputs":[{"name":"x","shape":[2],"datatype":"FP32","data":[1]}]}',
      'x: float32 [2] needs 2 values, got 1',
    ],
    [
      'too few bytes',
      '{"inputs":[{"name":"x","shape":[2],"datatype":"FP32","parameters":{"binary_data_size":4}}]}',
      'x: ',
    ],
  ])('a request with %s gets 400', async (_, body, message) => {
    const answer = await ask(HALF_PLUS_TWO, handler, json, body);
    expect([answer.status, answer.body.toString()]).toEqual([
      400,
      expect.stringContaining(message),
    ]);
  });
});

test("migration/torchserve.ts answers in TorchServe's form", async () => {
  const answer = await ask(join(DIGITS, 'model'), 'migration/torchserve.ts', 'image/jpeg', seven);
  const scores = JSON.parse(answer.body.toString()) as Record<string, number>;
  expect(Object.keys(scores)).toHaveLength(5);
  expect(scores.seven).toBeCloseTo(1, 3);
});

test('the handler of README answers the digit', async () => {
  const answer = await ask(
    join(DIGITS, 'model'),
    'handlers/likeliest-digit.ts',
    'image/jpeg',
    seven,
  );
  expect(JSON.parse(answer.body.toString())).toEqual({ digit: 7 });
});

test('handlers/streaming.ts answers a line for a line', async () => {
  const answer = await ask(HALF_PLUS_TWO, 'handlers/streaming.ts', 'text/plain', '1\r\n\r\n2\n3\n');
  expect(answer.contentType).toBe('application/jsonlines');
  expect(answer.body.toString()).toBe('{"y":3.5}\n{"y":4}\n{"y":4.5}\n');
  const wrong = await ask(HALF_PLUS_TWO, 'handlers/streaming.ts', 'text/plain', '1e39\n3\n');
  expect([wrong.status, wrong.body.toString()]).toEqual([
    400,
    expect.stringContaining('no float32'),
  ]);
});

test('migration/images.ts sees the digit', async () => {
  const answer = await ask(join(DIGITS, 'model'), 'migration/images.ts', 'image/jpeg', seven);
  const { predictions } = JSON.parse(answer.body.toString()) as { predictions: number[][] };
  expect(predictions[0]?.[7]).toBeCloseTo(1, 3);
});

test('migration/npy.ts answers npy', async () => {
  const answer = await ask(
    join(DIGITS, 'model'),
    'migration/npy.ts',
    'application/x-npy',
    Buffer.concat(black),
  );
  expect(answer.contentType).toBe('application/x-npy');
  expect(answer.body.subarray(1, 6).toString()).toBe('NUMPY');
});
