import { formatManifest } from './manifest-file.ts';
import { streamManifest } from './manifest-stream.ts';

/** The text in chunks of `size` bytes, which may cut characters. */
async function* chunksOf(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(text: string, size = 7) {
  const { prefix, pages } = await streamManifest(chunksOf(text, size), 'm');
  const keys: string[] = [];
  for await (const page of pages) keys.push(...page);
  return { prefix, keys };
}

const KEYS = ['a', '"', '\\', '\\"', 'ü/東京😀.jpg', 'a,b', 'x]y', '{', '}', ' ', 'a\n', '%2C+'];

test.each([1, 2, 3, 7, 64, 10_000])('whatever the chunks: %d bytes', async (size) => {
  expect(await read(formatManifest('s3://b/i[n],/', KEYS), size)).toEqual({
    prefix: 's3://b/i[n],/',
    keys: KEYS,
  });
  const compact = JSON.stringify([{ prefix: 's3://b/' }, ...KEYS]);
  expect((await read(compact, size)).keys).toEqual(KEYS);
});

test('no keys', async () => {
  expect(await read(' [ {"prefix": "s3://b/"} ] \n')).toEqual({ prefix: 's3://b/', keys: [] });
});

test.each([
  ...['', '[', '[]', '{}', '["a"]', '[{"prefix":1}]', '[{"prefix":"p"},1]', '[{"prefix":"p"},""]'],
  ...[
    '[{"prefix":"p"},"a"',
    '[{"prefix":"p"},"a"]x',
    '[{"prefix":"p"},"a" "b"]',
    '[{"prefix":"p"},,"a"]',
  ],
  `[{"prefix":"p"},"${'a'.repeat(200_000)}"]`,
])('%.40j is no manifest', async (text) => {
  await expect(read(text, 1_000)).rejects.toMatchObject({ code: 'MANIFEST_INVALID' });
});
