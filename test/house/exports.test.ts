/** What a file exports, another file imports: a test, an example or a page's generator counts. */
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { ROOT, trackedFiles } from './tracked-files.ts';

/** Exports that something other than an import uses, with the reason. */
const ALLOWED: Readonly<Record<string, string>> = {
  'cli/src/init/templates.ts outputHandler': 'text of a handler that is written',
  'docs/examples/': 'they show what is used from elsewhere',
  'examples/migration/inference.ts inputHandler': 'the runtime loads it',
  'examples/migration/inference.ts outputHandler': 'the runtime loads it',
  'playground/bundle.d.mts bundlePlayground': 'the types of what bundle.mjs exports',
  'playground/src/answer/no-tfrecord.ts tfRecordTensors': 'bundled instead of another file',
  'tensors/wasm/build.mjs JSON_NUMBERS_WASM': 'text of a file that is written',
  'test/installed/types.ts ': 'compiled against the packed packages',
  'test/rehearse/rehearse.ts outputHandler': 'text of a handler that is written',
  'test/stacks/strict-app/app.ts data': 'the app that an assembly is made from',
};

const files = trackedFiles('*.ts', '*.tsx', '*.mts', '*.mjs', 'bin/*.js').filter(
  (file) => !/\/gen\/|\/fixtures\//.test(file),
);
const texts = new Map(files.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]));

const NAMED = /\b(?:import|export)\s+(?:type\s+)?(?:\w+\s*,\s*)?\{([^}]*)\}\s*from\s*'([^']+)'/g;
const LAZY = /\{([^{}]*)\} = await import\(\s*'([^']+)'/g;
const WHOLE =
  /\b(?:import|export) \*(?: as \w+)? from '(\.[^']+)'|\b(?:import|require\w*)(?:<[^(]*>)?\(\s*'(\.[^']+)'/g;

/** `file name` for each name that is imported by itself, `file *` for a file imported as a whole, and names of packages. */
function importedNames(): Set<string> {
  const all = new Set<string>();
  for (const [file, text] of texts) {
    const at = (to: string) => (to.startsWith('.') ? normalize(join(dirname(file), to)) : '');
    for (const [, names = '', to = ''] of [...text.matchAll(NAMED), ...text.matchAll(LAZY)])
      for (const one of names.split(',')) {
        const [name] = one
          .trim()
          .replace(/^type /, '')
          .split(/\s+as\s+|:/);
        all.add(`${at(to)} ${name}`);
      }
    for (const [, to = '', called = ''] of text.matchAll(WHOLE)) all.add(`${at(to || called)} *`);
  }
  return all;
}

/** Values alone: a type may be there for the signature of one. */
const EXPORT = /^export (?:async |abstract )*(?:const|let|function\*?|class) ([A-Za-z_$][\w$]*)/gm;

test('every exported value is imported by another file', () => {
  const imported = importedNames();
  const exported = [...texts]
    .filter(([file]) => !/\.test\.tsx?$/.test(file))
    .flatMap(([file, text]) => [...text.matchAll(EXPORT)].map(([, name = '']) => [file, name]));
  expect(exported.length).toBeGreaterThan(1500);
  const idle = exported
    .filter(([file, name]) => !['*', name].some((one) => imported.has(`${file} ${one}`)))
    .filter(([, name]) => !imported.has(` ${name}`))
    .map(([file, name]) => `${file} ${name}`);
  const allowed = (one: string) => Object.keys(ALLOWED).find((prefix) => one.startsWith(prefix));
  expect(idle.filter((one) => allowed(one) === undefined)).toEqual([]);
  expect(Object.keys(ALLOWED).sort()).toEqual([...new Set(idle.map(allowed))].sort());
});
