import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InputSource } from './inputs.ts';
import { ignoresCase, refuseCollisions } from './key-collisions.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'key-collisions-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

function sourceOf(keys: readonly string[]): InputSource {
  return {
    prefix: 'file:///in/',
    duplicates: [],
    async *list() {
      for (const key of keys) yield { key, path: `/in/${key}` };
    },
  };
}

const many = Array.from({ length: 20_000 }, (_, i) => `tiles/${i % 7}/${i}.jpg`);
const ignoring = async () => true;

test.each([
  ['A.jpg', 'a.jpg'],
  ['tiles/Ä/1.jpg', 'tiles/ä/1.jpg'],
  // Composed and decomposed.
  ['\u00e9.jpg', 'e\u0301.jpg'],
  ['tiles/3/10000.jpg', 'Tiles/3/10000.JPG'],
])('%s and %s are refused on a disk that ignores case', async (first, second) => {
  const source = sourceOf([first, ...many, second]);
  await expect(refuseCollisions(source, folder, ignoring)).rejects.toMatchObject({
    code: 'KEYS_COLLIDE',
    message: expect.stringContaining(`${JSON.stringify(first)} and ${JSON.stringify(second)}`),
  });
});

test('other keys pass, and so do all on a disk that tells case', async () => {
  await refuseCollisions(sourceOf(many), folder, ignoring);
  await refuseCollisions(sourceOf(['A', 'a']), folder, async () => false);
});

test('a folder is asked, and nothing stays of it', async () => {
  const directory = join(folder, 'out');
  expect(typeof (await ignoresCase(directory))).toBe('boolean');
  expect(await readdir(join(directory, '.partial'))).toEqual([]);
});
