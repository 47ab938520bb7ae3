/**
 * What clients read if a signature lacks what messages like to name: a dtype that is carried, a shape, any
 * input at all. It is English, and has none of JavaScript's words for what is not there.
 */
import {
  encodeLengthPrefixed,
  encodeNpy,
  encodeNpz,
  encodeRecordIo,
  encodeSageMakerRecord,
  encodeTfRecord,
  numericTensor,
  type Signature,
  stringTensor,
  type Tensor,
  type TensorMap,
  type TensorSpec,
} from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';
import { plain } from '../images/test-pictures.ts';
import { checkCall, checkCarried, checkOutputs } from '../inference/check-call.ts';
import { decodeRequest, encodeResponse } from './registry.ts';
import { bodyOf, decodeContext, encodeContext } from './test-signatures.ts';
import { encodeExample } from './tf-example-writer.ts';

const JAVASCRIPT = /undefined|\bNaN\b|\[object|DT_INVALID|=>|function\b|TypeError|prototype/;

/** `DataType`: float32, string, bool, complex64, a number that nobody has, none. */
const DTYPES: readonly (readonly [TensorSpec['dtype'], number])[] = [
  ['float32', 1],
  ['uint8', 4],
  ['string', 7],
  ['bool', 10],
  [undefined, 8],
  [undefined, 121],
  [undefined, 77],
  [undefined, 0],
];
const SHAPES = [
  undefined,
  [],
  [-1],
  [2],
  [0],
  [-1, 0],
  [-1, -1],
  [-1, 2, 2, 3],
  [-1, -1, -1, -1, 3],
];
const NAMES = [['x'], ['x', 'y'], [], ['__proto__'], ['']];

function* specs(): Generator<TensorSpec> {
  for (const [dtype, dtypeEnum] of DTYPES) {
    for (const shape of SHAPES) yield { tensorName: 'x:0', dtype, dtypeEnum, shape };
  }
}

function* signatures(): Generator<Signature> {
  for (const spec of specs()) {
    for (const names of NAMES) {
      const inputs = Object.fromEntries(names.map((name) => [name, spec]));
      yield { key: 'serving_default', methodName: '', inputs, outputs: inputs };
    }
  }
}

const floats = numericTensor('float32', [2, 2], new Uint8Array(16));
const texts = stringTensor([1], [Buffer.from('text')]);
const scalar = numericTensor('bool', [], new Uint8Array(1));

async function bodies(): Promise<(readonly [string, Uint8Array])[]> {
  const picture = await plain(3, 2, 1, 2, 3).png().toBuffer();
  const records = [
    picture,
    encodeExample({ x: floats, y: texts }),
    encodeExample({}),
    Buffer.from('x'),
  ];
  const json = [
    '[]',
    '{}',
    'null',
    'true',
    '1',
    '[[1, 2], [3]]',
    '{"x": {"y": 1}}',
    '[null]',
    '{"b64": "eA=="}',
    '{"instances": [{}]}',
    '{"instances": [{"x": null}]}',
    '{"instances": [1, {"x": 1}]}',
    '{"instances": null}',
    '{"inputs": {}}',
    '{"inputs": null}',
    '{"inputs": {"x": [[], [1]]}}',
    '{"inputs": {"z": 1}}',
    '{"inputs": []}',
    '{"inputs": {"x": {"toString": 1}}}',
    '{"inputs": {"__proto__": 1}}',
    '{"examples": [{}]}',
    '{"examples": [null]}',
    '{"examples": [{"x": null}]}',
    '{"examples": [{"x": [[1]]}]}',
    '{"signature_name": {}, "inputs": 1}',
    '',
    '{"a"',
  ].map((text) => ['application/json', Buffer.from(text)] as const);
  const csv = ['', '1', '1,2\n3', 'x\n1', '"', ',,'].flatMap((text) => [
    ['text/csv', Buffer.from(text)] as const,
    ['text/csv; header=present', Buffer.from(text)] as const,
  ]);
  const npy = [floats, texts, scalar].flatMap((tensor) => [
    ['application/x-npy', Buffer.concat(encodeNpy(tensor))] as const,
    ['application/x-npz', Buffer.concat([...encodeNpz({ x: tensor })])] as const,
  ]);
  const framed = records.flatMap((record) => [
    ['application/x-tfrecord', Buffer.concat(encodeTfRecord(record))] as const,
    ['application/x-recordio', Buffer.concat(encodeRecordIo(record))] as const,
    ['application/octet-stream', Buffer.concat(encodeLengthPrefixed(record))] as const,
  ]);
  const record = encodeSageMakerRecord({ values: floats });
  return [
    ...json,
    ...csv,
    ...npy,
    ...framed,
    ['application/x-recordio-protobuf', Buffer.concat(encodeRecordIo(record))],
    ['application/x-image', picture],
    ['image/png', Buffer.from('no picture')],
    ['application/x-npy', Buffer.from('no array')],
    ['application/x-npz', Buffer.alloc(0)],
    ['text/nobody-knows', Buffer.alloc(1)],
  ];
}

const heard = new Set<string>();

/** What is thrown is for the client, and said in English. */
async function told(where: string, work: () => Promise<unknown> | unknown): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof ServingError)) throw new Error(`${where}: ${error}`, { cause: error });
    heard.add(error.message.replaceAll(/\d+/g, '#'));
    if (JAVASCRIPT.test(error.message)) throw new Error(`${where}: ${error.message}`);
  }
}

test('requests', async () => {
  const all = await bodies();
  for (const signature of signatures()) {
    const spec = JSON.stringify(Object.entries(signature.inputs));
    for (const [type, body] of all) {
      await told(`${type} ${body.toString().slice(0, 40)} for ${spec}`, async () => {
        const { inputs } = await decodeRequest(body, decodeContext(signature, type));
        checkCall(signature, inputs);
      });
    }
  }
  expect(heard.size).toBeGreaterThan(100);
});

test('answers', async () => {
  const outputs: readonly TensorMap[] = [
    {},
    { x: floats },
    { x: texts, y: floats },
    { x: scalar },
    { x: stringTensor([1], [Uint8Array.of(0xff, 0)]) },
    { x: numericTensor('uint64', [1], new Uint8Array(8).fill(255)) },
    { x: numericTensor('bfloat16', [0, 2], new Uint8Array(0)), y: scalar },
  ];
  const types = [
    'application/json',
    'text/csv',
    'application/x-npy',
    'application/x-npz',
    'application/x-tfrecord',
  ];
  for (const tensors of outputs) {
    for (const type of [...types, 'image/png', 'a, b;q=x', ';;']) {
      await told(`${Object.keys(tensors)} as ${type}`, async () => {
        await bodyOf(await encodeResponse(tensors, type, encodeContext()));
      });
    }
  }
  for (const signature of signatures()) {
    await told('carried', () => checkCarried(signature));
    await told('outputs', () => checkOutputs(signature, ['z', 'constructor']));
    const given: Tensor[] = [floats, texts, scalar];
    for (const tensor of given) await told('call', () => checkCall(signature, { x: tensor }));
  }
});
