import { inputsOf } from './inputs.ts';
import { formatManifest, parseManifest } from './manifest-file.ts';
import { inputOfOutput, outputKey } from './outputs.ts';
import { asDirectory, formatS3Uri, parseS3Uri } from './s3-uri.ts';

test.each([
  ['s3://b', { bucket: 'b', key: '' }],
  ['s3://b/', { bucket: 'b', key: '' }],
  ['s3://b/a b/ü\n.jpg', { bucket: 'b', key: 'a b/ü\n.jpg' }],
])('%j is a place', (uri, place) => {
  expect(parseS3Uri(uri)).toEqual(place);
  expect(parseS3Uri(formatS3Uri(place))).toEqual(place);
});

test.each(['b/key', 's3:///key', 'https://b/key', ''])('%j is no S3 URI: wrong usage', (uri) => {
  expect(() => parseS3Uri(uri)).toThrow(
    expect.objectContaining({ code: 'S3_URI_INVALID', exitStatus: 2 }),
  );
});

test('a prefix that is a directory', () => {
  expect(['', 'a', 'a/'].map((key) => asDirectory({ bucket: 'b', key }).key)).toEqual([
    '',
    'a/',
    'a/',
  ]);
});

test('inputs are objects below the prefix, but neither folders nor what lies below the outputs', () => {
  const inputs = inputsOf({
    inputUri: 's3://b/in/2024-',
    outputUri: 's3://b/in/2024-out',
    keySuffix: '.jpg',
  });
  expect(inputs).toMatchObject({ bucket: 'b', root: 'in/', prefix: 's3://b/in/' });
  const keys = [
    'in/2024-1/a.jpg',
    'in/2023.jpg',
    'in/2024-1/',
    'in/2024-out/a.jpg',
    'in/2024-a.JPG',
  ];
  expect(keys.filter(inputs.isInput)).toEqual(['in/2024-1/a.jpg']);
});

test('outputs in another bucket exclude nothing', () => {
  const { isInput } = inputsOf({ inputUri: 's3://b/', outputUri: 's3://c/in' });
  expect(isInput('in/a')).toBe(true);
});

test('an output belongs to one input', () => {
  expect(inputOfOutput(outputKey('a.out'))).toBe('a.out');
  expect(inputOfOutput('_shards/r/planned.json')).toBeUndefined();
});

test('a manifest comes back as it was, repetitions apart', async () => {
  const text = formatManifest('s3://b/in/', ['a', '"ü"\n', 'a']);
  expect(await parseManifest(text, 'm')).toEqual({
    prefix: 's3://b/in/',
    keys: ['a', '"ü"\n'],
    duplicates: ['a'],
  });
});

test.each([
  '',
  '{}',
  '[]',
  '["a"]',
  '[{"prefix":"s3://b/"},1]',
  '[{"prefix":"s3://b/"},""]',
  '[{"prefix":"s3://b/","suffix":""},"a"]',
  '[{"prefix":"s3://b/"},"a"',
  '[{"prefix":"s3://b/"},"a"] ]',
])('%j is no manifest', async (text) => {
  await expect(parseManifest(text, 's3://b/m')).rejects.toThrow(
    expect.objectContaining({
      code: 'MANIFEST_INVALID',
      message: expect.stringContaining('s3://b/m is not a manifest'),
    }),
  );
});
