/** Which tensors are drawn as pictures, and which are read by rows. */
import { channelsOf, planeOf, rowsOf } from './statistics.ts';

test.each([
  [[1, 5, 3], 0, undefined],
  [[3, 1], 0, undefined],
  [[1, 10], 0, undefined],
  [[8, 9], 0, { count: 1, plane: { rows: 8, columns: 9, start: 0, step: 1 } }],
  [[2, 8, 9, 3], 4, { count: 6, plane: { rows: 8, columns: 9, start: 217, step: 3 } }],
  [[2, 28, 28, 1], 1, { count: 2, plane: { rows: 28, columns: 28, start: 784, step: 1 } }],
  [[2, 16, 9, 8], 1, { count: 32, plane: { rows: 9, columns: 8, start: 72, step: 1 } }],
  [[3000, 3000], 0, undefined],
])('of %j plane %d is %j', (shape, index, found) => {
  expect(planeOf(shape, index)).toEqual(found);
});

test.each([
  [
    [1, 5, 3],
    ['0', '1', '2', '3', '4'],
  ],
  [
    [2, 2, 3],
    ['0, 0', '0, 1', '1, 0', '1, 1'],
  ],
  [
    [9, 2],
    ['0', '1', '2', '3', '4'],
  ],
  [[1, 10], undefined],
  [[3, 1], undefined],
  [[5, 17], undefined],
  [[7], undefined],
  [[], undefined],
])('of %j the rows are %j', (shape, rows) => {
  expect(rowsOf(shape, 5)).toEqual(rows);
});

test.each([
  ['uint8', [1, 32, 48], 1],
  ['uint8', [32, 48], 1],
  ['uint8', [2, 32, 48, 1], 1],
  ['uint8', [2, 32, 48, 3], 3],
  ['uint8', [32, 48, 3], 3],
  ['uint8', [2, 32, 48, 2], undefined],
  ['uint8', [2, 5, 32, 48], undefined],
  ['uint8', [1, 3], undefined],
  ['float32', [1, 32, 48], undefined],
] as const)('%s %j has the channels of a picture: %p', (dtype, shape, channels) => {
  expect(channelsOf({ dtype, shape: [...shape] })).toBe(channels);
});
