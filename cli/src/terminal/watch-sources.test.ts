/** Files beside a handler: which of them make it load again. */
import {
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isSource, watchSources } from './watch-sources.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'watch-sources-'));
  mkdirSync(join(folder, 'lib', 'node_modules'), { recursive: true });
  writeFileSync(join(folder, 'inference.ts'), "import './lib/labels.ts';\n");
  writeFileSync(join(folder, 'lib', 'labels.ts'), "import names from './names.json';\n");
  writeFileSync(join(folder, 'lib', 'node_modules', 'a.js'), "require('./bench.json');\n");
});
afterAll(() => rmSync(folder, { recursive: true }));

test.each([
  ['inference.ts', true],
  ['lib/labels.ts', true],
  ['lib/new.mjs', true],
  // That a source names, also before it is there.
  ['lib/names.json', true],
  // What other programs write, as `bench --json > bench.json`.
  ['bench.json', false],
  ['lib/answer.json', false],
  ['notes.txt', false],
  ['lib/node_modules/a.js', false],
  ['.#inference.ts', false],
])('%s: %s', (file, counts) => {
  expect(isSource(folder, join(...file.split('/')))).toBe(counts);
});

describe('while it is watched', () => {
  let changes = 0;
  let stop: () => void;
  const path = (...names: string[]) => join(folder, ...names);
  beforeAll(() => {
    stop = watchSources(path('inference.ts'), () => {
      changes += 1;
    });
  });
  afterAll(() => stop());

  /** As editors do: a new file takes the place of the old one. */
  const replace = (...names: string[]) => {
    writeFileSync(`${path(...names)}.new`, `// ${changes}`);
    renameSync(`${path(...names)}.new`, path(...names));
  };

  test.each<[what: string, change: () => void]>([
    ['a file that is replaced', () => replace('inference.ts')],
    ['the same file, replaced again', () => replace('inference.ts')],
    ['and written', () => writeFileSync(path('inference.ts'), '// written')],
    ['a file below, replaced', () => replace('lib', 'labels.ts')],
    ['and again', () => replace('lib', 'labels.ts')],
    ['a file that goes', () => rmSync(path('inference.ts'))],
    ['and comes back', () => writeFileSync(path('inference.ts'), '// back')],
    [
      'a new folder with a file',
      () => {
        mkdirSync(path('new'));
        writeFileSync(path('new', 'a.ts'), '// new');
      },
    ],
    ['a file in it', () => replace('new', 'a.ts')],
    [
      'a folder that goes, and comes back',
      () => {
        rmSync(path('new'), { recursive: true });
        mkdirSync(path('new'));
        writeFileSync(path('new', 'b.ts'), '// again');
      },
    ],
    ['a file in that one', () => replace('new', 'b.ts')],
  ])('%s is seen', async (_, change) => {
    const before = changes;
    change();
    while (changes === before) await sleep(20);
  });

  const SLOW_MS = 250;
  test.each<[editor: string, save: (text: string) => unknown]>([
    [
      'writes a new file and renames it',
      (text) => {
        writeFileSync(`${path('inference.ts')}.new`, text);
        renameSync(`${path('inference.ts')}.new`, path('inference.ts'));
      },
    ],
    [
      'moves the old file away first, and is slow',
      async (text) => {
        renameSync(path('inference.ts'), `${path('inference.ts')}~`);
        await sleep(SLOW_MS);
        writeFileSync(path('inference.ts'), text);
      },
    ],
    [
      'writes beside it under an ending of sources',
      async (text) => {
        writeFileSync(path('inference.tmp.ts'), text);
        renameSync(path('inference.tmp.ts'), path('inference.ts'));
      },
    ],
    [
      'sets the times afterwards',
      async (text) => {
        writeFileSync(path('inference.ts'), text);
        await sleep(SLOW_MS);
        utimesSync(path('inference.ts'), 1, 1);
      },
    ],
    [
      'locks the file while it is edited',
      async (text) => {
        symlinkSync('nobody', path('.#inference.ts'));
        await sleep(SLOW_MS);
        writeFileSync(path('inference.ts'), text);
        rmSync(path('.#inference.ts'));
      },
    ],
  ])('an editor that %s: one save is one change', async (editor, save) => {
    await sleep(2 * SLOW_MS);
    const before = changes;
    await save(`// saved by one that ${editor}`);
    while (changes === before) await sleep(20);
    await sleep(4 * SLOW_MS);
    expect(changes - before).toBe(1);
  });
});
