import { stringTensor, tensorFromValues, toNested } from '@sagemaker-tfs/tensors';
import { paddedShape, padTensor } from './padding.ts';

test('every axis but the first takes the largest size', () => {
  const shapes = [
    [1, 2, 5],
    [4, 3, 1],
  ];
  const tensors = shapes.map((shape) =>
    tensorFromValues('uint8', shape, Array(shape.reduce((a, b) => a * b)).fill(1)),
  );
  expect(paddedShape(tensors)).toEqual([3, 5]);
  expect(() => paddedShape([tensorFromValues('uint8', [1], [1]), tensors[0] ?? fail()])).toThrow(
    'ranks',
  );
});

test('a tensor grows along every axis, filled with its first element', () => {
  const tensor = tensorFromValues('int16', [2, 1, 2], [7, 1, 2, 3]);
  expect(toNested(padTensor(tensor, [2, 3]))).toEqual([
    [
      [7, 1, 7],
      [7, 7, 7],
    ],
    [
      [2, 3, 7],
      [7, 7, 7],
    ],
  ]);
});

test('strings too; a tensor of the size already is given back', () => {
  const tensor = stringTensor([2, 1], ['a', 'b']);
  expect(toNested(padTensor(tensor, [2]))).toEqual([
    [Buffer.from('a'), Buffer.from('a')],
    [Buffer.from('b'), Buffer.from('a')],
  ]);
  expect(padTensor(tensor, [1])).toBe(tensor);
});

test('a row may hold more strings than a call has arguments', () => {
  const count = 200_000;
  const texts = Array.from({ length: count }, (_, at) => String(at));
  const padded = padTensor(stringTensor([1, count], texts), [count + 2]);
  const values = padded.dtype === 'string' ? padded.values : [];
  const read = values.map((value) => Buffer.from(value).toString());
  expect(read).toEqual([...texts, '0', '0']);
});

test('a tensor without elements cannot be padded', () => {
  expect(() => padTensor(tensorFromValues('int16', [1, 0], []), [2])).toThrow(
    'Got empty tensor in batch of non-empty tensors.',
  );
});
