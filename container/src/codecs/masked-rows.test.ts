/** Rows of records without an answer, by dtype. */
import {
  isNumeric,
  type NumericDType,
  numericTensor,
  stringTensor,
  toNumbers,
} from '@sagemaker-tfs/tensors';
import { withMask } from './masked-rows.ts';

/** The second of three records. */
const BAD = new Map([[1, 'wrong']]);

const ONE: readonly (readonly [NumericDType, readonly number[]])[] = [
  ['float16', [0, 0x3c]],
  ['bfloat16', [0x80, 0x3f]],
  ['float32', [0, 0, 0x80, 0x3f]],
  ['float64', [0, 0, 0, 0, 0, 0, 0xf0, 0x3f]],
  ['int8', [1]],
  ['uint16', [1, 0]],
  ['int64', [1, 0, 0, 0, 0, 0, 0, 0]],
  ['bool', [1]],
];

test.each(ONE)('%s', async (dtype, one) => {
  const bytes = Uint8Array.from([...one, ...one, ...one, ...one]);
  const { y, error } = await withMask({ y: numericTensor(dtype, [2, 2], bytes) }, BAD);
  const fill = dtype.includes('float') ? Number.NaN : 0;
  expect(y).toMatchObject({ dtype, shape: [3, 2] });
  expect(y && isNumeric(y) && Array.from(toNumbers(y), Number)).toEqual([1, 1, fill, fill, 1, 1]);
  expect(error).toEqual({ dtype: 'bool', shape: [3], bytes: Uint8Array.of(0, 1, 0) });
});

test('strings are empty', async () => {
  const { y } = await withMask({ y: stringTensor([2, 1], ['a', 'b']) }, BAD);
  expect(y).toEqual(stringTensor([3, 1], ['a', '', 'b']));
});

test('an output of the name of the mask, and outputs that are not one row a record, are refused', async () => {
  const scalar = stringTensor([], ['a']);
  await expect(withMask({ error: stringTensor([1], ['a']) }, BAD)).rejects.toMatchObject({
    code: 'NOT_ACCEPTABLE',
  });
  await expect(withMask({ scalar }, BAD)).rejects.toMatchObject({ code: 'NOT_ACCEPTABLE' });
});
