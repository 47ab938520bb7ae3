/** Phrases that have to be read twice stand neither in code nor in docs; CONTRIBUTING.md has better ones. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, trackedFiles } from './tracked-files.ts';

/** Each phrase, with what to write instead. */
const PHRASES: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\bundefined where\b/i, 'undefined if'],
  [/\bgives\b(?! back)/i, 'returns, sets, makes, allows'],
  [/\bso many\b/i, 'a number of, this number of, N'],
  [/\bof which\b/i, 'two sentences'],
  [/\b(is|are) told\b/i, 'knows, reports, shows'],
  [/\b(has|have) not told\b/i, 'is unknown, is unavailable'],
  [/\bwhat is not\b/i, 'name it: "incomplete files", "infinities and NaN"'],
];

const files = trackedFiles('*.ts', '*.tsx', '*.mjs', '*.md')
  // CONTRIBUTING.md quotes the phrases, where-it-differs.md names of tests; the changelog is history.
  .filter(
    (file) =>
      !/^docs\/where-it-differs\.md$|\.test\.ts$|\/gen\/|^test\/|^CHANGELOG\.md$|^CONTRIBUTING\.md$/.test(
        file,
      ),
  );

test.each(PHRASES)('nobody writes %s', (phrase, instead) => {
  const found = files.flatMap((file) =>
    readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        phrase.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [],
      ),
  );
  expect({ instead, found }).toEqual({ instead, found: [] });
});
