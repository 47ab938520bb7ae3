/** What a file exports, another file uses: a test, an example or a page's generator counts. */
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { ROOT, trackedFiles } from './tracked-files.ts';

const files = trackedFiles('*.ts', '*.tsx', '*.mts', '*.mjs', 'bin/*.js').filter(
  (file) => !/\/gen\/|\/fixtures\//.test(file),
);
const texts = new Map(files.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]));

/** The one file that has a word, or `several`. */
const owners = new Map<string, string>();
for (const [file, text] of texts) {
  for (const word of new Set(text.match(/[A-Za-z_$][\w$]*/g))) {
    owners.set(word, owners.has(word) ? 'several' : file);
  }
}

/** Files whose exports are an entry's: `export * from './file.ts'`. */
const wholes = new Set(
  [...texts].flatMap(([file, text]) =>
    [...text.matchAll(/export \* from '(\.[^']+)'/g)].map(([, to = '']) =>
      normalize(join(dirname(file), to)),
    ),
  ),
);

const EXPORT =
  /^export (?:async |abstract )*(?:const|let|function\*?|class|interface|type) ([A-Za-z_$][\w$]*)/gm;

test('no export is used in its own file alone', () => {
  const exported = [...texts].flatMap(([file, text]) =>
    [...text.matchAll(EXPORT)].map(([, name = '']) => ({ file, name })),
  );
  expect(exported.length).toBeGreaterThan(3000);
  const idle = exported.filter(
    // Examples show how they are used from elsewhere.
    ({ file, name }) =>
      owners.get(name) === file && !wholes.has(file) && !file.startsWith('docs/examples/'),
  );
  expect(idle).toEqual([]);
});
