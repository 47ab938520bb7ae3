/**
 * Tensors that TensorFlow itself would end the process for (`Check failed`), in every codec, by every transport and
 * from handlers: all are refused with 400 before they reach it, and nobody else notices.
 */
import {
  encodeLengthPrefixed,
  encodeNpy,
  encodeNpz,
  numericTensor,
  stringTensor,
  type Tensor,
} from '@sagemaker-tfs/tensors';
import { fixtureModel } from '../../test/fixtures/index.ts';
import { invoke } from './testing/invoke.ts';
import { isAlive, type RuntimeProcess } from './testing/runtime-process.ts';
import { useRuntimes } from './testing/use-runtimes.ts';

const serve = useRuntimes();
let served: RuntimeProcess;
let inProcess: RuntimeProcess;
let handled: RuntimeProcess;

/** Calls the model with whatever shape the body says. */
const HANDLER = `
  export const handler = async (data, { predict }) => {
    const { dtype, shape } = JSON.parse(Buffer.from(data).toString());
    const count = shape.reduce((product, size) => product * size, 1);
    const values = Array.from({ length: count }, () => Buffer.from('x'));
    const tensor = dtype === 'string' ? { dtype, shape, values } : { dtype, shape, bytes: new Uint8Array(count * 4) };
    return predict({ image: tensor });
  };
`;

beforeAll(async () => {
  const copies = { digits: fixtureModel('digits').basePath };
  const start = (SAGEMAKER_TFS_BACKEND: string | undefined, files: Record<string, string> = {}) =>
    serve({ copies, files }, { SAGEMAKER_TFS_DEFAULT_MODEL_NAME: 'digits', SAGEMAKER_TFS_BACKEND });
  [served, inProcess, handled] = await Promise.all([
    start(undefined),
    start('in-process'),
    start(undefined, { 'code/inference.mjs': HANDLER }),
  ]);
});

interface Answer {
  readonly status: number;
  readonly code: string | undefined;
  readonly text: string;
}

async function ask(
  transport: string,
  type: string,
  body: Uint8Array | string,
  more = '',
): Promise<Answer> {
  const response = await invoke(transport === 'in-process' ? inProcess : served, {
    body,
    type,
    attributes: `tfs-transport=${transport}${more}`,
  });
  const text = await response.text();
  return { status: response.status, text, code: (JSON.parse(text) as { code?: string }).code };
}

const zeros = (...shape: number[]): Tensor =>
  numericTensor('float32', shape, new Float32Array(shape.reduce((a, b) => a * b, 1)));
const npy = (tensor: Tensor) => Buffer.concat(encodeNpy(tensor));
const npz = (tensor: Tensor) => Buffer.concat(encodeNpz({ image: tensor }));
const nested = (shape: readonly number[]): unknown =>
  shape.length === 0 ? 0 : Array.from({ length: shape[0] as number }, () => nested(shape.slice(1)));
const picture = JSON.stringify(nested([1, 28, 28, 1]));

const BODIES: [string, string, string | Uint8Array][] = [
  ['a row that is a number', 'application/json', '{"instances":[1]}'],
  ['a row of one number, four deep', 'application/json', '{"instances":[[[[1]]]]}'],
  ['an empty column', 'application/json', '{"inputs":{"image":[]}}'],
  ['an empty row', 'application/json', '{"instances":[[]]}'],
  ['empty lists', 'application/json', '{"inputs":{"image":[[],[]]}}'],
  ['a scalar column', 'application/json', '{"inputs":{"image":1.5}}'],
  ['a scalar for the only input', 'application/json', '{"inputs":1.5}'],
  ['another size', 'application/json', JSON.stringify({ instances: nested([1, 28, 27, 1]) })],
  ['five dimensions', 'application/json', JSON.stringify({ instances: nested([1, 1, 28, 28, 1]) })],
  ['no instances at all', 'application/json', '{"instances":[]}'],
  ['no inputs at all', 'application/json', '{"inputs":{}}'],
  ['plain values', 'application/json', '[[1,2],[3,4]]'],
  ['a line', 'application/jsonlines', '[1]\n[2]\n'],
  ['CSV of one column', 'text/csv', '1\n2\n'],
  ['npy of no rows', 'application/x-npy', npy(zeros(0, 28, 28, 1))],
  ['npy of another rank', 'application/x-npy', npy(zeros(3))],
  ['npz of no rows', 'application/x-npz', npz(zeros(0, 28, 28, 1))],
  ['npz of another size', 'application/x-npz', npz(zeros(1, 14, 14, 1))],
  ['npz of strings', 'application/x-npz', npz(stringTensor([1], ['x']))],
  ['an empty npz', 'application/x-npz', Buffer.concat(encodeNpz({}))],
  [
    'a record of text',
    'application/octet-stream',
    Buffer.concat(encodeLengthPrefixed(Buffer.from('x'))),
  ],
];

describe.each(['grpc', 'rest', 'in-process'])('over %s', (transport) => {
  test.each(BODIES)('%s is refused', async (_what, type, body) => {
    const { status, code } = await ask(transport, type, body);
    expect([status, code]).toEqual([400, expect.stringMatching(/^(BAD|UNKNOWN)_INPUT$/)]);
  });

  test('what one reader of JSON would see and another not', async () => {
    const bad = '[1]';
    for (const body of [
      `{"instances":${bad},"instances":${picture}}`,
      `{"instances":${picture},"instances":${bad}}`,
      `{"inputs":{"image":${bad},"image":${picture}}}`,
      `{"instances":[{"image":${bad},"image":${picture.slice(1, -1)}}]}`,
      `{"inputs":{"image":${picture}},"junk":${'['.repeat(400)}${']'.repeat(400)}}`,
    ]) {
      const { status } = await ask(transport, 'application/json', body);
      expect([200, 400]).toContain(status);
    }
  });

  test('deep JSON is refused, or read without recursion', async () => {
    for (const depth of [255, 600, 100_000]) {
      const body = `{"instances":${'['.repeat(depth)}1${']'.repeat(depth)}}`;
      const { status } = await ask(transport, 'application/json', body);
      expect(status).toBe(400);
    }
  });

  test('and an honest request gets its answer', async () => {
    const { status, text } = await ask(transport, 'application/json', `{"instances":${picture}}`);
    expect(status).toBe(200);
    expect((JSON.parse(text) as { predictions: number[][] }).predictions[0]).toHaveLength(10);
  });
});

test('a handler’s tensors are checked as a body’s are', async () => {
  const call = async (tensor: object) => {
    const response = await fetch(`${handled.url}/invocations`, {
      method: 'POST',
      body: JSON.stringify(tensor),
    });
    return response.status;
  };
  for (const shape of [[], [1], [0, 28, 28, 1], [1, 27, 28, 1], [1, 1, 28, 28, 1]]) {
    expect(await call({ dtype: 'float32', shape })).toBe(400);
  }
  expect(await call({ dtype: 'string', shape: [1, 28, 28, 1] })).toBe(400);
  expect(await call({ dtype: 'int32', shape: [1, 28, 28, 1] })).toBe(400);
  expect(await call({ dtype: 'float32', shape: [2, 28, 28, 1] })).toBe(200);
});

test('nothing ended, nothing was restarted', () => {
  for (const runtime of [served, inProcess, handled]) {
    expect(isAlive(runtime.pid)).toBe(true);
    expect(runtime.output()).not.toMatch(/Check failed|SIGABRT|SIGSEGV|exited|restart/);
  }
});
