import type { S3Client } from '@aws-sdk/client-s3';
import { HttpError } from '../handler/http-error.ts';
import { answerLines } from './answer.ts';
import { cautionOf } from './caution.ts';
import { rowMaker } from './row.ts';
import { CAUTIOUS } from './supervise.ts';

/** Keys that the supervisor hears of. */
const told: string[] = [];

beforeEach(() => {
  told.length = 0;
  process.env[CAUTIOUS] = 'true';
});

afterEach(() => {
  delete process.env[CAUTIOUS];
});

/** Makes rows of objects that hold one byte. */
function rows(ask: () => Promise<Uint8Array>) {
  const caution = cautionOf({ partKeys: 1, reads: 0 }, async (key) => {
    told.push(key);
  });
  const body = { transformToByteArray: async () => Uint8Array.of(1) };
  const make = rowMaker({
    s3: { send: async () => ({ Body: body }) } as unknown as S3Client,
    bucket: 'bucket',
    root: '',
    make: answerLines({ ask, inFlight: 1, caution }),
    tellsErrors: true,
    maxBytes: 10,
    poison: new Set(),
    hold: () => undefined,
  });
  return { make: (key: string) => make({ key, size: 1, modified: 0 }), caution };
}

test('an object counts once, however often it is tried', async () => {
  let failures = 2;
  const { make, caution } = rows(async () => {
    if (failures-- > 0) throw new HttpError(503, 'busy');
    return Buffer.from('{}');
  });
  await make('a');
  expect(told).toEqual(['a', '']);
  expect(caution.isOn()).toBe(true);
  await make('b');
  expect(told).toEqual(['a', '', 'b', '']);
  expect(caution.isOn()).toBe(false);
  await make('c');
  expect(told).toHaveLength(4);
});

test('an object that fails counts too', async () => {
  const { make, caution } = rows(async () => {
    throw new HttpError(400, 'no');
  });
  for (const key of ['a', 'b']) await make(key);
  expect(told).toEqual(['a', '', 'b', '']);
  expect(caution.isOn()).toBe(false);
});
