/** The image can be read by every user, also where whoever built it lets nobody else read the files. */
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The steps of each stage of the Dockerfile that copy the bundled runtime, and what follows. */
const stages = readFileSync('container/Dockerfile', 'utf8')
  .split(/^FROM /m)
  .filter((stage) => /^COPY dist /m.test(stage))
  .map((stage) => [stage.split('\n')[0] ?? '', stage] as const);

test('two stages copy the runtime', () => {
  expect(stages).toHaveLength(2);
});

test.each(stages)('%s', (_, stage) => {
  const folder = mkdtempSync(join(tmpdir(), 'umask-'));
  const before = process.umask(0o077);
  try {
    for (const part of ['dist', 'dist/codecs', 'image']) {
      mkdirSync(join(folder, part));
      writeFileSync(join(folder, part, 'main.js'), '');
    }
    // What follows the COPY, as the build runs it.
    const after = stage.slice(stage.indexOf('COPY dist '));
    const chmods = [...after.matchAll(/^RUN (chmod .+)$/gm)].map(([, command = '']) => command);
    expect(chmods).not.toEqual([]);
    for (const command of chmods) execFileSync('sh', ['-c', command], { cwd: folder });
    const unreadable = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
      const { mode } = statSync(join(folder, name));
      const needed = name.endsWith('.js') ? 0o044 : 0o055;
      return (mode & needed) !== needed;
    });
    expect(unreadable).toEqual([]);
  } finally {
    process.umask(before);
    rmSync(folder, { recursive: true, force: true });
  }
});
