import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { trackedFiles } from '../test/house/tracked-files.ts';
import { PAGES, START, withNext, withPages } from './navigation.ts';

const ROOT = join(__dirname, '..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

test('every page of docs/ is in one group, and every page of a group exists', () => {
  const files = PAGES.map(({ file }) => file);
  expect(new Set(files).size).toBe(files.length);
  expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  const inDocs = trackedFiles('docs/*.md').filter((file) => file !== START.file);
  expect(inDocs.filter((file) => !files.includes(file))).toEqual([]);
});

test('docs/README.md lists the pages of each group; npm run docs writes it', () => {
  expect(withPages(read(START.file))).toBe(read(START.file));
});

const inDocs = PAGES.map(({ file }) => file).filter((file) => file.startsWith('docs/'));

test.each(inDocs)('%s ends with the next page; npm run docs writes it', (file) => {
  expect(withNext(file, read(file))).toBe(read(file));
});
