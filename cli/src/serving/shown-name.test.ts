import { shownName, shownNames } from './shown-name.ts';

test.each([
  ['examples/digits/model', 'digits'],
  ['examples/digits/model/', 'digits'],
  ['/models/colour', 'colour'],
  ['/models/colour/1', 'colour'],
  ['/a/saved_model/3/', 'a'],
  ['out/digits.tar.gz', 'digits'],
  ['/digits/model.tar.gz', 'digits'],
  ['net.keras', 'net'],
  ['s3://bucket/digits/model.tar.gz', 'digits'],
  ['s3://bucket/model.tar.gz', 'bucket'],
  ['/', 'model'],
  ['/model/1', 'model'],
])('%s is called %s', (source, name) => {
  expect(shownName(source)).toBe(name);
});

test('models of an archive of several keep their names', () => {
  expect(shownNames([{ name: 'cats' }, { name: 'dogs' }], 'pets.tar.gz')('cats')).toBe('cats');
  expect(shownNames([{ name: 'model' }], 'pets.tar.gz')('model')).toBe('pets');
});
