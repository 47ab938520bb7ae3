import type { S3Client } from '@aws-sdk/client-s3';
import { HttpError } from '../handler/http-error.ts';
import { answerLines } from './answer.ts';
import { cautionOf } from './caution.ts';
import { rowMaker } from './row.ts';
import { CAUTION, type CautionStage, type Message } from './supervise.ts';

/** What the supervisor hears. */
const told: Message[] = [];
/** Keys that it receives. */
const keys = () => told.flatMap((message) => ('at' in message ? [message.at] : []));
const stages = () => told.flatMap((message) => ('stage' in message ? [message.stage] : []));

afterEach(() => {
  told.length = 0;
  delete process.env[CAUTION];
});

/** Makes rows of objects that hold one byte. */
function rows(stage: CautionStage | undefined, ask: () => Promise<Uint8Array>, partKeys = 1) {
  if (stage) process.env[CAUTION] = stage;
  const tell = async (message: Message) => {
    told.push(message);
  };
  const caution = cautionOf({ partKeys, reads: 0 }, tell, 1);
  const body = { transformToByteArray: async () => Uint8Array.of(1) };
  const make = rowMaker({
    s3: { send: async () => ({ Body: body, ContentLength: 1 }) } as unknown as S3Client,
    bucket: 'bucket',
    root: '',
    make: answerLines({
      ask: async () => ({ body: await ask(), contentType: undefined }),
      inFlight: 1,
      caution,
    }),
    tellsErrors: true,
    maxBytes: 10,
    poison: new Set(),
    hold: () => undefined,
  });
  return { make: (key: string) => make({ key, size: 1, modified: 0 }), caution };
}

test('an object counts once, however often it is tried; only the first of a process can be to blame', async () => {
  let failures = 2;
  const { make } = rows('alone', async () => {
    if (failures-- > 0) throw new HttpError(503, 'busy');
    return Buffer.from('{}');
  });
  await make('a');
  await make('b');
  expect(told).toEqual([
    { asks: true },
    { at: 'a', isFirst: true },
    { at: '', isFirst: true },
    { at: 'b', isFirst: false },
    { at: '', isFirst: false },
  ]);
});

test('an object that fails is reported too', async () => {
  const { make } = rows('alone', async () => {
    throw new HttpError(400, 'no');
  });
  for (const key of ['a', 'b']) await make(key);
  expect(keys()).toEqual(['a', '', 'b', '']);
});

test('alone, then a few at a time, then all at once', async () => {
  const { caution, make } = rows('alone', async () => Buffer.from('{}'), 20);
  const written: number[] = [];
  const reads: number[] = [];
  for (let row = 0; row < 100; row++) {
    reads.push(caution.reads(256));
    if (caution.counts()) written.push(row);
  }
  // A part behind each of the first 32 rows, then behind each 16, and where caution ends.
  expect(written).toEqual([...Array(32).keys(), 47, 63, 71]);
  expect(reads).toEqual([...Array(32).fill(1), ...Array(40).fill(16), ...Array(28).fill(256)]);
  expect(stages()).toEqual(['walking', 'none']);
  await make('late');
  expect(keys()).toEqual([]);
});

test('a process that nothing has gone before has no caution', async () => {
  const { make, caution } = rows(undefined, async () => Buffer.from('{}'));
  await make('a');
  expect([caution.reads(256), caution.counts()]).toEqual([256, false]);
  expect(told).toEqual([{ asks: true }]);
});
