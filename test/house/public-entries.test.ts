/** What lies outside of a room takes its public entries, as a user would. */
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { ROOMS } from './rooms.ts';
import { imports, isTestSupport } from './source-imports.ts';
import { ROOT, trackedFiles } from './tracked-files.ts';

const OUTSIDE = [
  'bench',
  'conformance',
  'demo',
  'docs',
  'examples',
  'packages',
  'playground/test',
  'test',
  'tools',
];
/**
 * Files of a room's inside. `lib` has no `src`: its entries are the constructs, the configuration, the functions of Lambda
 * and what tests take.
 */
const INSIDE =
  /^([a-z-]+\/src|lib)\/(?!(index|config|testing\/parts|(batch|drift)\/handler\/index|batch\/stop-handler\/index)\.ts$)/;
/** Entries for benchmarks, pages and tests alone. */
const FOR_TESTS =
  /^@?sagemaker-tfs.*\/(parts|stand-ins)$|^@sagemaker-tfs\/container\/(testing|transport)$/;

const files = trackedFiles(...OUTSIDE).filter(
  (file) => /\.(ts|tsx|mjs)$/.test(file) && !file.includes('/fixtures/'),
);

function importsInside(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  return [...text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^'\n]+)'/g)]
    .map(([, to = '']) => normalize(join(dirname(file), to)))
    .filter((target) => INSIDE.test(target));
}

test('rooms take the public entries of other rooms', () => {
  const across = imports.flatMap(({ from, to }) => {
    const target = to.startsWith('.') ? normalize(join(dirname(from), to)) : '';
    const [own, other] = [from, target].map((path) => path.split('/', 1)[0]);
    return target === '' || own === other ? [] : [{ from, target }];
  });
  expect(across.length).toBeGreaterThan(0);
  const isRoom = (path: string) => ROOMS.includes(path.split('/', 1)[0] ?? '');
  const refused = across.filter(({ from, target }) => isRoom(from) && INSIDE.test(target));
  expect(refused).toEqual([]);
});

test('rooms take nothing that is for tests alone', () => {
  const product = imports.filter(({ from }) => !isTestSupport(from));
  const refused = product.filter(
    ({ from, to }) => ROOMS.includes(from.split('/', 1)[0] ?? '') && FOR_TESTS.test(to),
  );
  expect(refused).toEqual([]);
  expect(product.filter(({ to }) => FOR_TESTS.test(to)).length).toBeGreaterThan(5);
});

test('benchmarks, demo, docs and tests take public entries alone', () => {
  expect(files.length).toBeGreaterThan(200);
  expect(files.flatMap((file) => importsInside(file).map((to) => `${file} -> ${to}`))).toEqual([]);
});
