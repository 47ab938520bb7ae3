import { fromSortable, toSortable } from './key-order.ts';

const KEYS = [
  'a',
  'a b',
  'a+b',
  'ü',
  '東京',
  '\ud7ff',
  '\ue000',
  '\uffee',
  '\uffff',
  '😀',
  '\u{10ffff}',
  'x😀\uffee',
];

test('sortable texts sort as the bytes of UTF-8 do, which is the order of S3', () => {
  const byBytes = [...KEYS].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  expect(KEYS.map(toSortable).sort().map(fromSortable)).toEqual(byBytes);
});

test('the key comes back as it was', () => {
  for (const key of KEYS) expect(fromSortable(toSortable(key))).toBe(key);
});
