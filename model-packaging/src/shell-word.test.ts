import { execFileSync } from 'node:child_process';
import { shellWord } from './shell-word.ts';

test.each([
  'plain/file.json',
  'a file',
  "it's",
  '$HOME',
  'a;b',
  '',
  '"',
  '*',
  'ümlaut',
  '~',
  '\\',
  'a\nb',
])('a shell reads the word of %j as it was', (text) => {
  const script = `printf %s ${shellWord(text)}`;
  expect(execFileSync('sh', ['-c', script], { encoding: 'utf8' })).toBe(text);
});

test('a plain word stays as it is', () => {
  expect(shellWord('out/model.tar.gz')).toBe('out/model.tar.gz');
});
