/** Arrays, archives of them, TensorProtos, records, conversions, digits. */
import {
  cast,
  DTYPES,
  type DType,
  decodeNpy,
  decodeNpz,
  decodeTensorProto,
  encodeNpy,
  encodeTensorProto,
  encodeTfRecord,
  type NumericDType,
  numericTensor,
  parseJson,
  readTfRecords,
  type TensorMap,
  toNumbers,
  writeTensorJson,
} from '@sagemaker-tfs/tensors';
import { bytesOf, type Case, joined, nearTensor, type Section, same, sameTensor } from './case.ts';

function differsInDigits({ dtype, bytes, texts }: Case): string | undefined {
  const values = bytesOf(bytes);
  const count = values.length / DTYPES[dtype as DType].size;
  const tensor = numericTensor(dtype as NumericDType, [count], values);
  const ours = Buffer.from(joined(writeTensorJson(tensor)))
    .toString()
    .slice(1, -1)
    .split(',');
  const at = (texts as string[]).findIndex(
    (text, index) => digitsOf(text) !== digitsOf(ours[index] ?? ''),
  );
  return at < 0 ? undefined : `${ours[at]} for ${(texts as string[])[at]}`;
}

/** Sign, significant digits and exponent of a number as text. */
function digitsOf(text: string): string {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text.trim()) ?? [];
  const all = whole + fraction;
  const digits = all.replace(/^0+/, '').replace(/0+$/, '');
  if (digits === '') return `${sign}0`;
  const leading = all.length - all.replace(/^0+/, '').length;
  return `${sign}${digits}e${Number(exponent) + whole.length - leading}`;
}

/** An archive that both read alike, or that neither reads, or that is refused here in writing. */
function differsAsArchive({ data, count, decision, arrays }: Case): string | undefined {
  const read = readArchive(bytesOf(data));
  if (typeof read === 'string') {
    return decision || count === null ? undefined : `refused: ${read}`;
  }
  if (decision || count === null) return 'read';
  if (Object.keys(read).length !== count) return `${Object.keys(read).length} arrays of ${count}`;
  const wrong = Object.entries(arrays as Record<string, Case>).find(
    ([name, expected]) => !nearTensor(read[name], expected),
  );
  return wrong && `array ${wrong[0]}`;
}

function readArchive(data: Uint8Array): TensorMap | string {
  try {
    return decodeNpz(data, { maxBytes: 2 ** 30 });
  } catch (error) {
    return String(error);
  }
}

/** What tensors are read from and written to. */
export const arrays: readonly Section[] = [
  {
    file: 'arrays',
    title: 'npy files, every dtype, both byte orders, C and Fortran order, read and written',
    reference: 'NumPy',
    tolerance: 'every bit',
    differs(given) {
      if (!sameTensor(decodeNpy(bytesOf(given.npy)), given)) return 'read';
      const tensor = numericTensor(
        given.dtype as NumericDType,
        given.shape as number[],
        bytesOf(given.bytes),
      );
      return same(joined(encodeNpy(tensor)), bytesOf(given.plain)) ? undefined : 'written';
    },
  },
  {
    file: 'archives',
    title:
      'npz archives: zip64, bytes before and after, more than 65,535 members, cut or changed anywhere',
    reference: 'NumPy',
    tolerance: 'the same arrays, or refused',
    differs: differsAsArchive,
  },
  {
    file: 'casts',
    title: 'Conversions of arrays of 1,000 numbers to shorter floats',
    reference: 'NumPy',
    tolerance: 'every bit, NaN as NaN',
    differs(given) {
      const source = numericTensor(given.from as NumericDType, [1000], bytesOf(given.given));
      const ours = toNumbers(cast(source, given.to as NumericDType));
      const theirs = toNumbers(
        numericTensor(given.to as NumericDType, [1000], bytesOf(given.bytes)),
      );
      const at = ours.findIndex(
        (value: number | bigint, index: number) => !Object.is(value, theirs[index]),
      );
      return at < 0 ? undefined : `${ours[at]} for ${theirs[at]}`;
    },
  },
  {
    file: 'protos',
    title: 'TensorProto, as content and as lists of values',
    reference: 'TensorFlow',
    tolerance: 'every bit',
    differs(given) {
      const tensor = decodeTensorProto(bytesOf(given.proto));
      if (!sameTensor(tensor, given)) return 'read';
      return sameTensor(decodeTensorProto(joined(encodeTensorProto(tensor))), given)
        ? undefined
        : 'written';
    },
  },
  {
    file: 'records',
    title: 'TFRecord files, read and written',
    reference: 'TensorFlow',
    tolerance: 'every bit',
    differs(given) {
      const file = bytesOf(given.file);
      const records = [...readTfRecords(file)];
      const expected = (given.records as string[]).map(bytesOf);
      if (records.length !== expected.length) return 'number';
      if (!records.every((record, at) => same(record, expected[at] as Uint8Array))) return 'read';
      return same(joined(expected.flatMap((record) => encodeTfRecord(record))), file)
        ? undefined
        : 'written';
    },
  },
  {
    file: 'digits',
    title: 'Digits of floats in JSON, 2,000 at a time: the shortest that mean the same number',
    reference: 'NumPy',
    tolerance: 'every digit',
    differs(given) {
      const { dtype, bytes } = given;
      const values = bytesOf(bytes);
      const tensor = numericTensor(
        dtype as NumericDType,
        [values.length / DTYPES[dtype as DType].size],
        values,
      );
      const back = Float64Array.from(parseJson(joined(writeTensorJson(tensor))) as number[]);
      const again = cast(numericTensor('float64', [back.length], back), dtype as NumericDType);
      return same(again.bytes, values) ? differsInDigits(given) : 'read back';
    },
  },
];
