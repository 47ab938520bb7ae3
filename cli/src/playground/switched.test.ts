/** Pictures with a switched declaration, for models of the fixtures. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_DECODE_LIMITS } from '@sagemaker-tfs/container/images';
import { layOut } from '@sagemaker-tfs/model-packaging';
import { decodeNpz, toNumbers } from '@sagemaker-tfs/tensors';
import sharp from 'sharp';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { switchedTensors } from './switched.ts';

let directory: string;
let picture: Buffer;
let limits = DEFAULT_DECODE_LIMITS;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'switched-'));
  const preprocess = { mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5] };
  await layOut({ source: fixtureModel('image_nchw').basePath, preprocess }, directory);
  const create = { width: 4, height: 2, channels: 3, background: '#ff0000' } as const;
  picture = await sharp({ create }).png().toBuffer();
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function tensor(switched: string, signature = 'serving_default') {
  const asked = { model: '', signature, switched, picture };
  const made = await switchedTensors(directory, asked, limits);
  if (!Buffer.isBuffer(made)) return made;
  const [found] = Object.values(decodeNpz(made, { maxBytes: 1e6 }));
  if (found === undefined || found.dtype === 'string') throw new Error('no numbers');
  return { shape: found.shape, red: Number(toNumbers(found)[0]) };
}

test('without a switch it is the declaration; a scale takes the place of mean and deviation', async () => {
  expect(await tensor('{}')).toEqual({ shape: [1, 3, 24, 32], red: 1 });
  expect(await tensor('{"scale": 2}')).toEqual({ shape: [1, 3, 24, 32], red: 510 });
  expect(await tensor('{"offset": -5}')).toEqual({ shape: [1, 3, 24, 32], red: 250 });
  expect(await tensor('{"channels": "bgr"}')).toEqual({ shape: [1, 3, 24, 32], red: -1 });
});

test.each([
  ['{"layout": "NHWC"}', 'BAD_INPUT'],
  ['{"resize": "crop"}', 'BAD_INPUT'],
  ['{"input": "other"}', 'BAD_INPUT'],
  ['{"scale": "1"}', 'BAD_INPUT'],
  ['{', 'BAD_INPUT'],
  ['', 'BAD_INPUT'],
])('%s is refused', async (switched, code) => {
  expect(await tensor(switched)).toMatchObject({ code });
});

test("the runtime's limits hold here too", async () => {
  limits = { ...DEFAULT_DECODE_LIMITS, maxImagePixels: 7 };
  expect(await tensor('{}')).toMatchObject({
    code: 'REQUEST_TOO_LARGE',
    message: expect.stringContaining('SAGEMAKER_TFS_MAX_IMAGE_PIXELS'),
  });
  limits = DEFAULT_DECODE_LIMITS;
});

test('an unknown signature, and what is no picture, are refused', async () => {
  expect(await tensor('{}', '__proto__')).toMatchObject({ code: 'UNKNOWN_SIGNATURE' });
  picture = Buffer.from('no picture');
  expect(await tensor('{}')).toMatchObject({ code: 'BAD_IMAGE' });
});
