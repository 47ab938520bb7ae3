/** What a caller's bad bytes come to where a handler reads them. */
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { invoke } from '../testing/invoke.ts';
import { useRuntimes } from '../testing/use-runtimes.ts';
import { forClient } from './for-client.ts';
import * as api from './index.ts';

const BAD = Buffer.from('\xff{not any of these formats', 'latin1');
const stream = async function* () {
  yield BAD;
};
const limits = { maxEntries: 10, maxBytes: 1e6 };

/** One call of each function that reads what others sent. */
const CALLS: Readonly<Record<string, () => unknown>> = {
  decodeImage: () => api.decodeImage(BAD),
  decodeNpy: () => api.decodeNpy(BAD),
  decodeNpz: () => api.decodeNpz(BAD, limits),
  decodeNpzInTurns: () =>
    api.decodeNpzInTurns(BAD, {
      ...limits,
      inflate: async (raw) => raw,
      nextTurn: async () => undefined,
      decode: async (file) => api.decodeNpy(file),
    }),
  decodePredictRequest: () => api.decodePredictRequest(BAD),
  decodePredictResponse: () => api.decodePredictResponse(BAD),
  decodePredictResponseInTurns: () =>
    api.decodePredictResponseInTurns(BAD, { maxStrings: 1, nextTurn: async () => undefined }),
  decodeSageMakerRecord: () => api.decodeSageMakerRecord(BAD),
  decodeTensorProto: () => api.decodeTensorProto(BAD),
  parseJson: () => api.parseJson(BAD),
  parseJsonDocuments: () => api.parseJsonDocuments(BAD),
  parseJsonLiteralDocuments: () => api.parseJsonLiteralDocuments(BAD),
  parsePackedJson: () => api.parsePackedJson(BAD),
  parsePackedJsonDocuments: () => api.parsePackedJsonDocuments(BAD),
  readLengthPrefixed: () => [...api.readLengthPrefixed(BAD)],
  readRecordIo: () => [...api.readRecordIo(BAD)],
  readTfRecords: () => [...api.readTfRecords(BAD)],
  streamLengthPrefixed: () => api.streamLengthPrefixed(stream(), { maxRecordBytes: 10 }).next(),
  streamRecordIo: () => api.streamRecordIo(stream(), { maxRecordBytes: 10 }).next(),
  streamTfRecords: () => api.streamTfRecords(stream(), { maxRecordBytes: 10 }).next(),
  tensorFromJson: () => api.tensorFromJson('float32', [[1], [2, 3]]),
  tensorFromNested: () => api.tensorFromNested('float32', ['x']),
};

const READS = /^(decode|parse|read|stream)[A-Z]|^tensorFrom(Json|Nested)$/;

test('every function that reads is asked', () => {
  expect(Object.keys(CALLS)).toEqual(
    Object.keys(api)
      .filter((name) => READS.test(name))
      .sort(),
  );
});

test.each(Object.entries(CALLS))("%s: bad input is the caller's error", async (_name, call) => {
  const thrown = await Promise.resolve()
    .then(call)
    .then(
      () => undefined,
      (error: unknown) => error,
    );
  expect(thrown).toBeInstanceOf(Error);
  expect([400, 413]).toContain(forClient(thrown)?.status);
});

test('an error that a caller has no part in stays that of the handler', () => {
  const wrong = () => api.numericTensor('float32', [3], new Float32Array(2));
  expect(wrong).toThrow(api.TensorError);
  try {
    wrong();
  } catch (error) {
    expect(forClient(error)).toBeUndefined();
  }
});

const HANDLER = `
import { decodeNpy, numericTensor } from 'sagemaker-tfs/handler';
export const handler = (data, { customAttributes }) => {
  if (customAttributes === 'own') return numericTensor('float32', [3], new Float32Array(2));
  return { shape: decodeNpy(data).shape };
};
`;

const start = useRuntimes();

test('the answer of a runtime', async () => {
  const { basePath } = fixtureModel('half_plus_two');
  const files = { 'code/inference.mjs': HANDLER };
  const runtime = await start({ copies: { half_plus_two: basePath }, files });
  const bad = await invoke(runtime, { body: BAD });
  expect(bad.status).toBe(400);
  expect(await bad.json()).toEqual({ code: 'BAD_INPUT', error: expect.stringContaining('.npy') });
  const own = await invoke(runtime, { body: BAD, attributes: 'own' });
  expect(own.status).toBe(500);
  expect(await own.json()).toMatchObject({ code: 'HANDLER_FAILED' });
});
