import { execFileSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deadLetterFile } from '../batch/aws/fetch/dead-letters.ts';
import { writeAnswers } from '../batch/aws/fetch/write-file.ts';
import { openJsonArray } from '../batch/json-array-file.ts';
import { sagemakerTfs } from '../batch/test-support.ts';
import { writeSettings } from '../tune/write-settings.ts';
import { writeWhole } from './write-whole.ts';

let work: string;
beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), 'place-'));
});
afterEach(() => rmSync(work, { recursive: true }));

/** Everything that puts a file in place under a name that a user gave. */
const WRITERS: Readonly<Record<string, (path: string) => Promise<void>>> = {
  writeWhole: (path) => writeWhole(path, 'new'),
  async openJsonArray(path) {
    const array = await openJsonArray(path);
    await array.add('new');
    await array.commit();
  },
  async writeAnswers(path) {
    async function* answers() {
      yield { key: 'new', json: '1', isError: false };
    }
    await writeAnswers(answers(), path, 'ndjson');
  },
  async deadLetterFile(path) {
    const letters = deadLetterFile(path);
    await letters.add([{ key: 'new', message: 'wrong' }]);
    await letters.commit();
  },
  writeSettings: (path) => writeSettings(path, { maxConcurrentTransforms: 1, environment: {} }),
};

/** What a file must not replace, made at a path. */
const THINGS: Readonly<Record<string, (path: string) => void>> = {
  pipe: (path) => execFileSync('mkfifo', [path]),
  directory: (path) => mkdirSync(path),
  'link to a pipe': (path) => {
    execFileSync('mkfifo', [`${path}-target`]);
    symlinkSync(`${path}-target`, path);
  },
  'link to an open file of this process, as /dev/stdout is': (path) =>
    symlinkSync('/proc/self/fd/1', path),
};

describe.each(Object.entries(WRITERS))('%s', (_, write) => {
  test.each(Object.entries(THINGS))('refuses a %s and leaves it', async (_, make) => {
    const path = join(work, 'out.json');
    make(path);
    const [names, inode] = [readdirSync(work), lstatSync(path).ino];
    await expect(write(path)).rejects.toMatchObject({ code: 'USAGE' });
    expect([readdirSync(work), lstatSync(path).ino]).toEqual([names, inode]);
  });

  test('refuses what lies among the open files of a process', async () => {
    const path = `/proc/${process.pid}/fd/1`;
    await expect(write(path)).rejects.toThrow('is an open file of a process');
  });

  test.each([true, false])('writes what links lead to; it exists: %s', async (exists) => {
    mkdirSync(join(work, 'runs'));
    const target = join(work, 'runs/today.json');
    if (exists) writeFileSync(target, 'old');
    symlinkSync('runs/today.json', join(work, 'middle'));
    symlinkSync(join(work, 'middle'), join(work, 'latest.json'));
    await write(join(work, 'latest.json'));
    expect(lstatSync(join(work, 'latest.json')).isSymbolicLink()).toBe(true);
    expect(readFileSync(target, 'utf8')).not.toBe('old');
    expect(readdirSync(join(work, 'runs'))).toEqual(['today.json']);
  });
});

/** Each option that names such a file, with the rest of a command that would write it after its work. */
const OPTIONS: readonly (readonly string[])[] = [
  ['batch', 'fetch', 's3://bucket/out/', '--format', 'ndjson', '--out'],
  [
    'batch',
    'verify',
    '--input-uri',
    's3://bucket/in/',
    '--output-uri',
    's3://bucket/out/',
    '--redrive',
  ],
  ['batch', 'local', '.', '--url', 'http://127.0.0.1:9', '--out', 'out', '--report'],
  ['bench', '/dev/null', '--url', 'http://127.0.0.1:9', '--report'],
  ['invoke', 'body.json', '--url', 'http://127.0.0.1:9', '--out'],
  ['captures', 'baseline', '.', '--out'],
  ...['chart', 'report', 'write'].map((name) => [
    ...['tune', 'body.json', '--url', 'http://127.0.0.1:9'],
    `--${name}`,
  ]),
];

test.each(
  OPTIONS.map((words) => [words.slice(0, 2).join(' '), words.at(-1) ?? '', words] as const),
)('%s %s: a pipe is refused before the work', async (_, option, words) => {
  const pipe = join(work, 'pipe.json');
  execFileSync('mkfifo', [pipe]);
  writeFileSync(join(work, 'body.json'), '{}');
  const given = words.map((word) => (word === 'body.json' ? join(work, word) : word));
  const { exitCode, stderr } = await sagemakerTfs([...given, pipe]);
  expect(stderr).toContain(`${option} ${pipe} is a device, pipe or socket`);
  expect(exitCode).toBe(2);
  expect(statSync(pipe).isFIFO()).toBe(true);
});
