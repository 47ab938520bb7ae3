import { byteSize } from '../verbs/batch-shards.ts';
import { rateMeter } from './rate.ts';

test('a rate, and the time that is left where it is known', () => {
  let now = 0;
  const rate = rateMeter(() => now);
  now = 10_000;
  expect(rate(500)).toBe('50/s');
  expect(rate(500, 5_000)).toBe('50/s, 2 min left');
});

test('sizes with a unit, and the plain bytes that --help shows as defaults', () => {
  expect(['64MB', '1.5 kb', '67108864', '102400'].map(byteSize)).toEqual([
    67_108_864, 1_536, 67_108_864, 102_400,
  ]);
  for (const text of ['', '-1', '64TB', '1e6', 'MB']) expect(() => byteSize(text)).toThrow('size');
});
