/** Each kind of case: what the oracle gave, compared with what this project makes of the same input. */
import { ensureLibrary, SavedModelSession } from '@sagemaker-tfs/libtensorflow';
import {
  cast,
  DTYPES,
  type DType,
  decodeNpy,
  decodeTensorProto,
  encodeNpy,
  encodeTensorProto,
  encodeTfRecord,
  isNumeric,
  type NumericDType,
  numericTensor,
  parseJson,
  readTfRecords,
  stringTensor,
  type Tensor,
  toNumbers,
  writeTensorJson,
} from '@sagemaker-tfs/tensors';
import { decodeImage } from '../container/src/images/decode-image.ts';
import type { Interpolation } from '../container/src/images/resample.ts';
import { parseBody, parsedFor } from '../local-model-server/src/rest/json-body.ts';
import { readInputs } from '../local-model-server/src/rest/predict-request.ts';

/** One case as oracle.py wrote it. */
export type Case = Readonly<Record<string, unknown>>;

/** A kind of cases. */
export interface Section {
  /** The file of the cases, without its ending. */
  readonly file: string;
  readonly title: string;
  readonly reference: string;
  /** How near counts as agreed. */
  readonly tolerance: string;
  /** @returns what differs, or undefined where the case agrees */
  differs(given: Case): Promise<string | undefined> | string | undefined;
}

const bytesOf = (base64: unknown): Uint8Array =>
  new Uint8Array(Buffer.from(base64 as string, 'base64'));
const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;
const joined = (chunks: Iterable<Uint8Array>): Uint8Array => Buffer.concat([...chunks]);

function sameTensor(tensor: Tensor, { dtype, shape, bytes }: Case): boolean {
  const isSame = tensor.dtype === dtype && String(tensor.shape) === String(shape);
  return isSame && isNumeric(tensor) && same(tensor.bytes, bytesOf(bytes));
}

/** Floats within a relative 1e-5, everything else to the last bit. */
function nearTensor(tensor: Tensor | undefined, expected: Case): boolean {
  if (!tensor || tensor.dtype !== expected.dtype) return false;
  if (String(tensor.shape) !== String(expected.shape)) return false;
  if (!isNumeric(tensor)) {
    const values = (expected.values as string[]).map(bytesOf);
    return tensor.values.every((value, at) => same(value, values[at] as Uint8Array));
  }
  const others = toNumbers(numericTensor(tensor.dtype, tensor.shape, bytesOf(expected.bytes)));
  return toNumbers(tensor).every((value: number | bigint, at: number) => {
    const other = others[at] as number | bigint;
    return (
      value === other || Math.abs(Number(value) - Number(other)) <= 1e-5 * Math.abs(Number(other))
    );
  });
}

function tensorOf({ dtype, shape, bytes, values }: Case): Tensor {
  return dtype === 'string'
    ? stringTensor(shape as number[], (values as string[]).map(bytesOf))
    : numericTensor(dtype as NumericDType, shape as number[], bytesOf(bytes));
}

function differsAsJson({ dtype, literal, bytes }: Case): string | undefined {
  const type = dtype as DType;
  const x = { tensorName: 'x:0', dtype: type, dtypeEnum: DTYPES[type].enumValue, shape: undefined };
  const signature = { key: 'serving_default', methodName: '', inputs: { x }, outputs: {} };
  const body = Buffer.from(`{"inputs": {"x": ${literal}}}`);
  try {
    const { inputs } = readInputs(
      parsedFor(signature, body, parseBody(body)),
      signature,
      new Set(),
    );
    const tensor = inputs.x as Tensor;
    const [value] = isNumeric(tensor) ? [tensor.bytes] : tensor.values;
    if (bytes === null) return literal === '[]' ? undefined : 'taken';
    return value && same(value, bytesOf(bytes)) ? undefined : 'another value';
  } catch {
    return bytes === null ? undefined : 'refused';
  }
}

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

async function differsAsImage(given: Case): Promise<string | undefined> {
  const { data } = await decodeImage(bytesOf(given.data), {
    width: given.width as number,
    height: given.height as number,
    antialias: given.antialias as boolean,
    ...(given.method ? { interpolation: given.method as Interpolation['interpolation'] } : {}),
  });
  const expected = bytesOf(given.pixels);
  let largest = 0;
  for (const [at, value] of expected.entries()) {
    largest = Math.max(largest, Math.abs(value - (data[at] as number)));
  }
  const isSame = data.length === expected.length && largest <= (given.tolerance as number);
  return isSame ? undefined : `${given.kind} ${given.method}: by ${largest}`;
}

async function differsAsModel({ directory, inputs, outputs }: Case): Promise<string | undefined> {
  const session = await SavedModelSession.load(directory as string, {
    library: await ensureLibrary(),
  });
  try {
    const given = Object.entries(inputs as Record<string, Case>);
    const tensors = Object.fromEntries(given.map(([name, tensor]) => [name, tensorOf(tensor)]));
    const result = await session.run('serving_default', tensors);
    const wrong = Object.entries(outputs as Record<string, Case>).find(
      ([name, expected]) => !nearTensor(result.outputs[name], expected),
    );
    result.release();
    return wrong && `output ${wrong[0]}`;
  } finally {
    await session.close();
  }
}

/** All kinds, in the order of the report. */
export const SECTIONS: readonly Section[] = [
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
  {
    file: 'json_values',
    title: "Values in the local model server's REST requests, every dtype",
    reference: "TensorFlow Serving's rules (util/json_tensor.cc), written anew",
    tolerance: 'taken or refused, and every bit',
    differs: differsAsJson,
  },
  {
    file: 'images',
    title: 'Pictures, decoded and resized, every filter with and without antialias',
    reference: 'TensorFlow, Pillow',
    tolerance:
      'decoded: equal, CMYK within 4; resized: within 1 of 255 of TensorFlow, within 2 of Pillow',
    differs: differsAsImage,
  },
  {
    file: 'models',
    title:
      'SavedModels with lookup tables, control flow, ragged and sparse tensors, XLA, run by the C API',
    reference: 'TensorFlow',
    tolerance: 'floats within 1e-5, else every bit',
    differs: differsAsModel,
  },
];
