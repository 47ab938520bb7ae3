import { fromBase64, goldenBytes, goldenJson } from '../fixtures/read.ts';
import { TensorError } from './errors.ts';
import { parseJsonDocuments, tensorFromJson } from './json-reader.ts';
import { readLengthPrefixed } from './length-prefixed.ts';
import { decodeNpy } from './npy.ts';
import { decodeNpz } from './npz.ts';
import { decodePredictRequest, decodePredictResponse } from './predict-message.ts';
import { readRecordIo } from './recordio.ts';
import { decodeSageMakerRecord } from './sagemaker-record.ts';
import { readTfRecords } from './tfrecord.ts';

/** Random whole numbers below `limit`, the same each time. */
function random(): (limit: number) => number {
  let state = 0x2545f491;
  return (limit) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
}

const messages = goldenJson<{ request: string; response: string }>('predict-messages.json');
const npy = goldenJson<{ text: string; fortran: string; 'version 2': string }>('npy.json');
const { dense, sparse } = goldenJson<Record<'dense' | 'sparse', string>>('recordio.json');
const json =
  '{"instances":[{"a":[[1.5,-2e3],[3,NaN]],"b":{"b64":"/wA="}},9007199254740993,"x\\u00e9"]}';

const cases: [name: string, bytes: Uint8Array, read: (bytes: Uint8Array) => unknown][] = [
  ['PredictRequest', fromBase64(messages.request), decodePredictRequest],
  ['PredictResponse', fromBase64(messages.response), decodePredictResponse],
  ['.npy of text', fromBase64(npy.text), decodeNpy],
  ['.npy in Fortran order', fromBase64(npy.fortran), decodeNpy],
  ['.npy version 2', fromBase64(npy['version 2']), decodeNpy],
  ['stored .npz', goldenBytes('stored.npz'), (bytes) => decodeNpz(bytes, { maxBytes: 10_000 })],
  ['deflated .npz', goldenBytes('deflated.npz'), (bytes) => decodeNpz(bytes, { maxBytes: 10_000 })],
  ['TFRecord', goldenBytes('records.tfrecord'), (bytes) => [...readTfRecords(bytes)]],
  [
    'dense records',
    fromBase64(dense),
    (bytes) => [...readRecordIo(bytes)].map((record) => decodeSageMakerRecord(record)),
  ],
  [
    'sparse records',
    fromBase64(sparse),
    (bytes) => [...readRecordIo(bytes)].map((record) => decodeSageMakerRecord(record)),
  ],
  [
    'length-prefixed',
    Buffer.from('\0\0\0\x03abc\0\0\0\x01d'),
    (bytes) => [...readLengthPrefixed(bytes)],
  ],
  ['JSON', Buffer.from(json), (bytes) => tensorFromJson('string', parseJsonDocuments(bytes))],
];

test.each(cases)('%s with changed bytes is read or refused as TensorError', (_, bytes, read) => {
  const next = random();
  const outcomes = { read: 0, refused: 0 };
  for (let round = 0; round < 3000; round++) {
    const changed = Uint8Array.from(bytes);
    for (let change = 0; change <= round % 4; change++) changed[next(changed.length)] = next(256);
    try {
      read(changed.subarray(0, changed.length - (round % 5 === 0 ? next(changed.length) : 0)));
      outcomes.read++;
    } catch (error) {
      if (!(error instanceof TensorError)) throw error;
      outcomes.refused++;
    }
  }
  expect(outcomes.refused).toBeGreaterThan(100);
});
