import { versionOf } from './version.ts';

test.each([
  ['1', 1n],
  ['0001', 1n],
  ['0', 0n],
  ['000', 0n],
  ['1538687370', 1538687370n],
  ['9223372036854775807', 2n ** 63n - 1n],
  [`${'0'.repeat(30)}7`, 7n],
  ['9223372036854775808', undefined],
  ['99999999999999999999', undefined],
  ['', undefined],
  ['-1', undefined],
  ['+1', undefined],
  [' 1', undefined],
  ['1.0', undefined],
  ['v1', undefined],
  ['１', undefined],
])('%j is version %s', (name, version) => {
  expect(versionOf(name)).toBe(version);
});
