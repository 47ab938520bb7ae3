/** `decodeImage` in a handler: the pixels of the runtime's own decoder, large pictures decoded in a thread. */
import { createHash } from 'node:crypto';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { decodeImage } from '../images/decode-image.ts';
import type { DecodeImageOptions } from '../images/decode-options.ts';
import { gradient } from '../images/test-pictures.ts';
import type { RuntimeProcess } from '../testing/runtime-process.ts';
import { useRuntimes } from '../testing/use-runtimes.ts';

const HANDLER = `
import { createHash } from 'node:crypto';
import { decodeImage } from 'sagemaker-tfs/handler';

export const handler = async (data, context) => {
  const { pictures, options, room } = JSON.parse(Buffer.from(data));
  let turns = 0;
  let handle = setImmediate(function count() {
    turns += 1;
    handle = setImmediate(count);
  });
  const decoded = await Promise.all(
    pictures.map(async (picture) => {
      const out = room && new Uint8Array(room);
      const { data, ...rest } = await decodeImage(Buffer.from(picture, 'base64'), options, out);
      const isOut = data === out;
      return { ...rest, isOut, sha: createHash('sha256').update(data).digest('hex') };
    }),
  );
  clearImmediate(handle);
  return JSON.stringify({ decoded, turns });
};
`;

interface Answer {
  readonly decoded: readonly object[];
  readonly turns: number;
}

const start = useRuntimes();
let runtime: RuntimeProcess;
beforeAll(async () => {
  const { basePath } = fixtureModel('half_plus_two');
  runtime = await start(
    { copies: { half_plus_two: basePath }, files: { 'code/inference.mjs': HANDLER } },
    { SAGEMAKER_TFS_MAX_IMAGE_PIXELS: '4000000' },
  );
});

async function ask(
  pictures: readonly Uint8Array[],
  options: DecodeImageOptions = {},
  room?: number,
): Promise<{ status: number; body: Answer }> {
  const encoded = pictures.map((picture) => Buffer.from(picture).toString('base64'));
  const response = await fetch(`${runtime.url}/invocations`, {
    method: 'POST',
    body: JSON.stringify({ pictures: encoded, options, room }),
  });
  return { status: response.status, body: (await response.json()) as Answer };
}

async function expected(picture: Uint8Array, options: DecodeImageOptions, isOut: boolean) {
  const { data, ...rest } = await decodeImage(picture, options);
  return { ...rest, isOut, sha: createHash('sha256').update(data).digest('hex') };
}

const large = gradient(1600, 1200);
const small = gradient(64, 48);

test.each<[string, DecodeImageOptions]>([
  ['as they are', {}],
  ['sized', { width: 224, height: 224 }],
  [
    'with every option',
    {
      width: 100,
      height: 90,
      channels: 'bgr',
      resize: 'contain',
      interpolation: 'bicubic',
      antialias: true,
      padding: 7,
    },
  ],
  ['gray', { channels: 'gray', width: 50, height: 60, resize: 'cover' }],
])('large and small pictures %s', async (_, options) => {
  const pictures = [
    await large.clone().jpeg().toBuffer(),
    await large.clone().png().toBuffer(),
    await small.clone().webp().toBuffer(),
    await small.clone().jpeg().withMetadata({ orientation: 6 }).toBuffer(),
    await large.clone().jpeg().withMetadata({ orientation: 6 }).toBuffer(),
  ];
  const { status, body } = await ask(pictures, options);
  expect(status).toBe(200);
  const all = await Promise.all(pictures.map((picture) => expected(picture, options, false)));
  expect(body.decoded).toEqual(all);
});

test('pixels go into the memory that is given', async () => {
  const options = { width: 30, height: 20 };
  const pictures = [await large.clone().jpeg().toBuffer(), await small.clone().png().toBuffer()];
  const { body } = await ask(pictures, options, 30 * 20 * 3);
  const all = await Promise.all(pictures.map((picture) => expected(picture, options, true)));
  expect(body.decoded).toEqual(all);
  expect(await ask(pictures, options, 10)).toMatchObject({ status: 500 });
});

test('pictures that are decoded at the same time leave others their turns', async () => {
  const picture = await small.clone().jpeg().toBuffer();
  const { body } = await ask(new Array(40).fill(picture));
  expect(body.turns).toBeGreaterThanOrEqual(40);
});

test("the runtime's limit and the caller's hold, and a damaged picture is refused", async () => {
  const beyond = await gradient(2100, 2000).jpeg().toBuffer();
  expect(await ask([beyond])).toMatchObject({ status: 413 });
  const picture = await large.clone().jpeg().toBuffer();
  expect(await ask([picture], { maxPixels: 1000 })).toMatchObject({ status: 413 });
  const cut = (await large.clone().png().toBuffer()).subarray(0, 1000);
  expect(await ask([cut])).toMatchObject({ status: 400, body: { code: 'BAD_IMAGE' } });
});
