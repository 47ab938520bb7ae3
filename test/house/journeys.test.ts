/** The journeys of docs/architecture.md: every file is there, and is imported by the one that it stands under. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { imports } from './source-imports.ts';
import { ROOT } from './tracked-files.ts';

const MAX_FILES = 20;

/** File of an import of ours: by its path, or by the `exports` of the package that it names. */
function fileOf(from: string, to: string): string | undefined {
  if (to.startsWith('.')) return normalize(join(dirname(from), to));
  const [, room, subpath] = /^@sagemaker-tfs\/([^/]+)(\/.+)?$/.exec(to) ?? [];
  if (room === 'cdk') return 'lib/index.ts';
  if (room === undefined) return undefined;
  const { exports } = JSON.parse(readFileSync(join(ROOT, room, 'package.json'), 'utf8'));
  const target = exports[`.${subpath ?? ''}`];
  return typeof target === 'string' ? normalize(join(room, target)) : undefined;
}

const targets = new Map<string, string[]>();
for (const { from, to } of imports) {
  const target = fileOf(from, to);
  if (target) targets.set(from, [...(targets.get(from) ?? []), target]);
}

/** Every file that `file` imports, directly or through others. */
function reached(file: string): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (from: string) => {
    for (const target of targets.get(from) ?? []) {
      if (found.has(target)) continue;
      found.add(target);
      visit(target);
    }
  };
  visit(file);
  return found;
}

interface Stop {
  readonly depth: number;
  readonly file: string;
}

/** Lists of files by the heading above them. */
function journeysIn(page: string): [string, Stop[]][] {
  const [, part = ''] = /^## Three journeys$(.*?)^## /ms.exec(page) ?? [];
  return part
    .split(/^### /m)
    .slice(1)
    .map((section) => {
      const [heading = ''] = section.split('\n', 1);
      const items = [...section.matchAll(/^( *)- `([^`]+)`: /gm)];
      return [
        heading,
        items.map(([, indent = '', file = '']) => ({ depth: indent.length / 2, file })),
      ];
    });
}

/** The stops that nothing they stand under imports. */
function lost(stops: readonly Stop[]): string[] {
  return stops.slice(1).flatMap(({ depth, file }, index) => {
    const above = stops.slice(0, index + 1).findLast((other) => other.depth === depth - 1);
    if (above && reached(above.file).has(file)) return [];
    return [`${file} is not imported by ${above?.file}`];
  });
}

const journeys = journeysIn(readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8'));

test('there are three', () => {
  expect(journeys.map(([heading]) => heading)).toEqual([
    'A JPEG becomes JSON',
    'A SavedModel becomes an archive',
    'A configuration becomes templates',
  ]);
});

test.each(journeys)('%s', (_heading, stops) => {
  expect(stops.length).toBeGreaterThan(10);
  expect(stops.length).toBeLessThanOrEqual(MAX_FILES);
  expect(new Set(stops.map(({ file }) => file)).size).toBe(stops.length);
  expect(stops.filter(({ file }) => !existsSync(join(ROOT, file)))).toEqual([]);
  expect(lost(stops)).toEqual([]);
});

test('a stop that nothing imports would be found', () => {
  const stops = [
    { depth: 0, file: 'container/src/errors.ts' },
    { depth: 1, file: 'container/src/runtime.ts' },
  ];
  expect(lost(stops)).toHaveLength(1);
});
