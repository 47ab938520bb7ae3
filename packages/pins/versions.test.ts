import { compareVersions, newestOf, sameMajor, satisfiesPython } from './versions.ts';

test('versions are compared by number', () => {
  expect(newestOf(['1.9.0', '1.10.0', '2.0.0rc1', '1.10'])).toMatch(/^1\.10/);
  expect(compareVersions('26.0', '26')).toBe(0);
  expect(newestOf(['2.0.0-rc.1'])).toBeUndefined();
});

test.each([
  ['1.2.3', '1.9.0', true],
  ['1.2.3', '2.0.0', false],
  ['0.3.1', '0.3.9', true],
  ['0.3.1', '0.4.0', false],
])('%s and %s: the same major is %s', (from, to, same) => expect(sameMajor(from, to)).toBe(same));

test.each([
  ['', true],
  ['>=3.9', true],
  ['>=3.12', false],
  ['>=3.9, <3.11', false],
  ['!=3.11.*, >=3.9', false],
  ['~=3.9', true],
  ['~=3.12', false],
  ['==3.*', true],
  ['>3.6,<=3.11', true],
  ['===3.11', false],
])("Python 3.11 and '%s': %s", (specifier, satisfied) =>
  expect(satisfiesPython('3.11', specifier)).toBe(satisfied),
);
