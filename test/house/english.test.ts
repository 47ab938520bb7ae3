/** Phrases that have to be read twice stand neither in code nor in docs; CONTRIBUTING.md has better ones. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, trackedFiles } from './tracked-files.ts';

/** Each phrase, with what to write instead. */
const PHRASES: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\bundefined where\b/i, 'undefined if'],
  [/\bso many\b/i, 'a number of, this number of, N'],
  [/\bof which\b/i, 'two sentences'],
  [/\b(is|are) told\b/i, 'knows, reports, shows'],
  [/\b(has|have) not told\b/i, 'is unknown, is unavailable'],
  [/\bwhere there is none\b/i, 'if there is none'],
  [/\bin the place of\b/i, 'instead of'],
  [/\bgoe?s? on\b/i, 'continues'],
  [/\bhears (of|how|why)\b/i, 'receives'],
];
/** The same for all but names of tests, in which these are short for a result and for a rest. */
const PHRASES_OF_CODE: typeof PHRASES = [
  [/\bgives\b(?! back)/i, 'returns, sets, makes, allows'],
  [/\bwhat is not\b/i, 'name it: "incomplete files", "infinities and NaN"'],
];

// CONTRIBUTING.md and this file quote the phrases; the changelog is history.
const files = trackedFiles('*.ts', '*.tsx', '*.mjs', '*.md').filter(
  (file) => !/\/gen\/|^CHANGELOG\.md$|^CONTRIBUTING\.md$|\/english\.test\.ts$/.test(file),
);
/** where-it-differs.md has names of tests. */
const ofTests = /\.test\.ts$|^test\/|^docs\/where-it-differs\.md$/;

/** A file's text with each line's break, and the comment's mark on the next, as spaces: comments continue where they are wrapped. */
function unwrapped(text: string): string {
  return text.replace(/\n[ \t]*(?:\*(?!\/)|\/\/|>)?[ \t]*/g, (mark) => ' '.repeat(mark.length));
}

const texts = files.map((file) => {
  const text = readFileSync(join(ROOT, file), 'utf8');
  return { file, text, flat: unwrapped(text) };
});

test.each([...PHRASES, ...PHRASES_OF_CODE])('nobody writes %s', (phrase, instead) => {
  const everywhere = new RegExp(phrase.source.replaceAll(' ', '\\s+'), 'gi');
  const isForTests = PHRASES.some(([other]) => other === phrase);
  const read = texts.filter(({ file }) => isForTests || !ofTests.test(file));
  const found = read.flatMap(({ file, text, flat }) =>
    [...flat.matchAll(everywhere)].map(
      ({ index, 0: words }) => `${file}:${text.slice(0, index).split('\n').length}: ${words}`,
    ),
  );
  expect({ instead, found }).toEqual({ instead, found: [] });
});

test('a phrase is found where a comment is wrapped', () => {
  expect(unwrapped('/**\n * The answer, undefined\n   * where there is none.\n */')).toMatch(
    /undefined\s+where/,
  );
});
