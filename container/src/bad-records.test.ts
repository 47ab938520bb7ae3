/** `SAGEMAKER_TFS_BAD_RECORD`: one bad record does not take the answers of the others. */
import {
  decodeNpz,
  encodeLengthPrefixed,
  encodeRecordIo,
  encodeTfRecord,
  isNumeric,
  numericTensor,
  toNumbers,
} from '@sagemaker-tfs/tensors';
import { fixtureModel } from '../../test/fixtures/index.ts';
import { decodeContext, nestedOf, signatureOf } from './codecs/test-signatures.ts';
import { encodeExample } from './codecs/tf-example-writer.ts';
import { withoutBadRecords } from './inference/bad-records.ts';
import type { Inference } from './inference/inference.ts';
import type { RuntimeProcess } from './testing/runtime-process.ts';
import { useRuntimes } from './testing/use-runtimes.ts';

const copies = { half_plus_two: fixtureModel('half_plus_two').basePath };
const start = useRuntimes();
let answering: RuntimeProcess;
let refusing: RuntimeProcess;
beforeAll(async () => {
  answering = await start({ copies }, { SAGEMAKER_TFS_BAD_RECORD: 'answer' });
  refusing = await start({ copies });
});

async function invoke(
  runtime: RuntimeProcess,
  type: string,
  body: string | Uint8Array,
  accept = 'application/json',
) {
  const response = await fetch(`${runtime.url}/invocations`, {
    method: 'POST',
    headers: { 'Content-Type': type, Accept: accept },
    body,
  });
  const attributes = response.headers.get('X-Amzn-SageMaker-Custom-Attributes') ?? '';
  const bad = /tfs-bad-records=(\d+)/.exec(attributes)?.[1];
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, text: bytes.toString(), bytes, bad };
}

const example = (value: number) =>
  encodeExample({
    x: numericTensor('float32', [1], new Uint8Array(Float32Array.of(value).buffer)),
  });
const framed = (encode: (record: Uint8Array) => Uint8Array[]) =>
  Buffer.concat([example(1), Buffer.from('no example'), example(3)].flatMap(encode));
const wrong = (where: RegExp) => ({ error: expect.stringMatching(where) as unknown });

const BODIES: readonly [type: string, body: string | Uint8Array, where: RegExp][] = [
  ['application/jsonlines', '1\n"one"\n3\n', /document\[1\]/],
  ['application/jsonlines', '1\n{"x": \n\n3', /the body/],
  ['application/jsonlines', '1\n{"y": 2}\n3\n', /object of named inputs|no input 'y'/],
  ['text/csv', '1\none\n3\n', /line 2/],
  ['text/csv; header=present', 'x\n1\none\n3\n', /./],
  ['text/csv', 'x\n1\none\n3\n', /./],
  ['application/x-tfrecord', framed(encodeTfRecord), /record 1/],
  ['application/x-recordio', framed(encodeRecordIo), /record 1/],
  ['application/octet-stream', framed(encodeLengthPrefixed), /record 1/],
];

test.each(BODIES)('%s: the others are answered', async (type, body, where) => {
  const { status, text, bad } = await invoke(answering, type, body);
  expect([status, bad]).toEqual([200, '1']);
  const { predictions } = JSON.parse(text) as { predictions: unknown[] };
  expect(predictions.flat()).toEqual([3.5, wrong(where), 4.5]);
  expect(await invoke(refusing, type, body)).toMatchObject({ status: 400, bad: undefined });
});

test('CSV has the error in one cell, JSON lines in one line', async () => {
  const body = '1\n"one"\n3\n';
  const csv = await invoke(answering, 'application/jsonlines', body, 'text/csv');
  const [first, second = '', third] = csv.text.trimEnd().split('\n');
  expect([first, third]).toEqual(['3.5', '4.5']);
  expect(JSON.parse(second.slice(1, -1).replaceAll('""', '"'))).toEqual(wrong(/document\[1\]/));
  const lines = await invoke(answering, 'application/jsonlines', body, 'application/jsonlines');
  expect(lines.text).toMatch(/^\{"predictions":\[3.5,.*\}\n$/);
});

const valuesOf = (npz: Uint8Array) =>
  Object.entries(decodeNpz(npz, { maxBytes: 1_000_000 })).map(([name, tensor]) => [
    ...[name, tensor.shape, isNumeric(tensor) ? Array.from(toNumbers(tensor), Number) : []],
  ]);

test('npz has NaN in the row, and a mask', async () => {
  const npz = 'application/x-npz';
  const { bytes, bad } = await invoke(answering, 'application/jsonlines', '"a"\n1\n"b"\n3\n', npz);
  expect(bad).toBe('2');
  expect(valuesOf(bytes)).toEqual([
    ['y', [4], [Number.NaN, 3.5, Number.NaN, 4.5]],
    ['error', [4], [1, 0, 1, 0]],
  ]);
  const none = await invoke(answering, 'application/jsonlines', '"a"\n"b"\n', npz);
  expect(valuesOf(none.bytes)).toEqual([['error', [2], [1, 1]]]);
  const all = await invoke(answering, 'application/jsonlines', '1\n3\n', npz);
  expect(valuesOf(all.bytes)).toEqual([['y', [2], [3.5, 4.5]]]);
});

test('one good record, or none, is answered as well', async () => {
  const one = await invoke(answering, 'application/jsonlines', '"a"\n2\n"b"');
  expect(one.bad).toBe('2');
  expect(JSON.parse(one.text)).toEqual({
    predictions: [wrong(/document\[0\]/), 4, wrong(/document\[2\]/)],
  });
  for (const accept of ['application/json', 'text/csv']) {
    const none = await invoke(answering, 'application/jsonlines', '"a"\n"b"\n', accept);
    expect([none.status, none.bad]).toEqual([200, '2']);
  }
});

test('what is no fault of a record is refused', async () => {
  const statuses = await Promise.all([
    invoke(answering, 'application/json', '{"instances": [1, "one"]}'),
    // Broken framing: where the next record begins is not known.
    invoke(answering, 'application/x-tfrecord', framed(encodeTfRecord).subarray(0, -3)),
    // npy has no place for an error.
    invoke(answering, 'application/jsonlines', '1\n"one"\n', 'application/x-npy'),
    invoke(answering, 'application/jsonlines', ''),
    invoke(answering, 'application/jsonlines', '{"y": 1}\n{"y": 2}\n'),
  ]);
  expect(statuses.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400]);
  const whole = await invoke(answering, 'application/jsonlines', '1\n3\n');
  expect([whole.text, whole.bad]).toEqual(['{"predictions":[3.5,4.5]}', undefined]);
});

const text = signatureOf({ x: ['string', [-1]] });
const rows = signatureOf({ x: ['float32', [-1, 3]] });
const open = signatureOf({ x: ['float32', [-1, -1]] });
const NUMBERS = [
  [1, 2, 3],
  [7, 8, 9],
];
const csv = 'text/csv';
const json = 'application/jsonlines';

async function parted(type: string, signature: typeof text, body: string) {
  const { limits: decodeLimits } = decodeContext(signature, type);
  const { signal } = new AbortController();
  const inference = { signature, contentType: type, decodeLimits, signal, backend: {} };
  const found = await withoutBadRecords(Buffer.from(body), inference as unknown as Inference);
  if (!found) return undefined;
  const good = found.good && nestedOf(found.good.inputs).x;
  return { bad: [...found.bad].map(([at, problem]) => `${at} ${problem}`), good };
}
test('a body that would be read again without end to find them is refused whole', async () => {
  const long = `"${'x'.repeat(20_000)}"\n`;
  expect(await parted(csv, text, `${long}${'a,b\n'.repeat(100)}`)).toBeUndefined();
  expect(await parted(csv, text, `${long}c\n${'a,b\n'.repeat(100)}`)).toMatchObject({
    good: { length: 2 },
  });
});

const words = (...values: string[]) => values.map((value) => Buffer.from(value));

test.each<[string, typeof text, string, unknown, RegExp[]]>([
  [csv, text, 'a\n"b\nc"\nx,y\nd\n', words('a', 'b\nc', 'd'), [/^2 line 4 has 2 c.*expected 1/]],
  [csv, text, 'a\r\n"b\r\nc"\r\nx,y\rd', words('a', 'b\r\nc', 'd'), [/^2 line 4 has 2/]],
  [csv, text, '\ufeff"a"\n \n\n"b""\n"\nx,y', words('a', ' ', 'b"\n'), [/^3 line 6 has 2/]],
  [csv, text, 'a"\nb\n"c" d\ne', words('b', 'e'), [/^0 .*line 1,? /, /^2 .*line 3 /]],
  [csv, text, 'a\n"b\nc\n""\nd', words('a', 'c', '', 'd'), [/^1 .*line 2/]],
  [`${csv}; header=present`, text, '"x"\na\nb,c\nd', words('a', 'd'), [/^1 line 3 has 2/]],
  [csv, rows, '1,2,3\nx,2,3\n4,5\n \n7,8,9\n', NUMBERS, [/^1 line 2, c/, /^2 line 3 has 2.*d 3/]],
  [csv, rows, '4,5\n1,2,3\n7,8,9\n', NUMBERS, [/^0 line 1: .*of \[3\], got 1 lines of 2 /]],
  [
    json,
    rows,
    '[1,2,3]\n["x",2,3]\n[4,5]\n[7,8,9]',
    NUMBERS,
    [/t\[1\]\[0\]/, /^2 document\[2\] has 2 .*has 3$/],
  ],
  [
    json,
    rows,
    '[1,2,3]\n[7,8,9]\n["record 1",2,3]',
    NUMBERS,
    [/^2 document\[2\]\[0\]: "record 1" /],
  ],
  [json, open, '[1,\n2,3]\n[4,5]\n[7,8,9]\n', NUMBERS, [/^1 document\[1\] has 2/]],
  [json, open, '[1,2,3]\n[1,2\n[7,\n 8, 9]\n', NUMBERS, [/^1 document\[1\]: the body/]],
  [json, open, '[1,2,3]\n]\n["x\n[7,8,9]\n[1', NUMBERS, [/^1 /, /^2 /, /^4 document\[4\]: /]],
])('%s %#: each bad record by its own place, the others whole', async (type, ...given) => {
  const [signature, body, good, problems] = given;
  const found = await parted(type, signature, body);
  expect(found?.good).toEqual(good);
  expect(found?.bad).toEqual(problems.map((problem) => expect.stringMatching(problem) as unknown));
});

test('a record of several instances has no row of its own: all is refused', async () => {
  expect(await parted(json, open, '[1] [2]\n["x"]\n[3]')).toBeUndefined();
});
