/** Empty tensors over TensorFlow Serving's REST API, whose lists end at the first empty one, and its NaN. */
import {
  type NumericTensor,
  numericTensor,
  stringTensor,
  type Tensor,
} from '@sagemaker-tfs/tensors';
import { signatureOf } from '../../codecs/test-signatures.ts';
import { fitsJson, predictRequestBody, readPredictReply } from './predict-json.ts';

const empty = (...shape: number[]) => numericTensor('float32', shape, new Uint8Array(0));

function read(shape: readonly number[] | undefined, lists: string): Tensor | undefined {
  const spec = { tensorName: 'y:0', dtype: 'float32' as const, dtypeEnum: 1, shape };
  const signature = { ...signatureOf({}), outputs: { y: spec } };
  const how = { signature, outputs: undefined, maxStrings: 0 };
  return readPredictReply(Buffer.from(`{"outputs": ${lists}}`), how)?.y;
}

test.each([
  [[-1, 5], '[]', [0, 5]],
  [[-1, -1, 5], '[[], []]', [2, 0, 5]],
  [[-1, 2, 3], '[]', [0, 2, 3]],
  [[-1, 0, 3], '[[]]', [1, 0, 3]],
  [[-1], '[]', [0]],
  [[-1, -1], '[[], [], []]', [3, 0]],
])('an output %j that REST writes as %s has the shape %j', (shape, lists, expected) => {
  expect(read(shape, lists)).toEqual(empty(...expected));
});

test('every NaN that REST writes has the same bits', () => {
  const bits = (lists: string) => Buffer.from((read([-1], lists) as NumericTensor).bytes);
  expect(bits('[NaN, 1.0]').toString('hex')).toBe('0000c07f0000803f');
  expect(bits('[NaN, NaN, Infinity]').toString('hex')).toBe('0000c07f0000c07f0000807f');
});

test.each<[number[] | undefined, string]>([
  [[-1, -1], '[]'],
  [[-1, 5, -1], '[]'],
  [[-1, -1, -1], '[[]]'],
  [undefined, '[]'],
  [undefined, '[[]]'],
])('an output %j that REST writes as %s may have many shapes', (shape, lists) => {
  expect(read(shape, lists)).toBeUndefined();
});

test.each<[number[], boolean]>([
  [[0, 5], false],
  [[1, 0, 3], false],
  [[0, 0], false],
  [[0], true],
  [[2, 0], true],
])('lists tell the shape %j: %s', (shape, expected) => {
  expect(fitsJson({ x: empty(...shape), y: empty(0) })).toBe(expected);
});

test('inputs whose text would be huge are none for JSON', () => {
  const zeros = (count: number) => numericTensor('uint8', [count], new Uint8Array(count));
  expect(fitsJson({ x: zeros(2_000_000), y: zeros(2_000_000) })).toBe(true);
  expect(fitsJson({ x: zeros(2_000_000), y: zeros(2_000_001) })).toBe(false);
  const text = (bytes: number) => stringTensor([1], [new Uint8Array(bytes)]);
  expect(fitsJson({ x: text(32_000_000) })).toBe(true);
  expect(fitsJson({ x: text(32_000_001) })).toBe(false);
});

test('an input whose last size is the empty one keeps its shape', async () => {
  const body = await predictRequestBody('serving_default', { x: empty(2, 0), y: empty(0) });
  expect(Buffer.concat(body).toString()).toBe(
    '{"signature_name":"serving_default","inputs":{"x":[[],[]],"y":[]}}',
  );
});
