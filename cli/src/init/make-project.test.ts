import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { makeProject } from './make-project.ts';

let work: string;
beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), 'project-'));
});
afterEach(() => rmSync(work, { recursive: true, force: true }));

const make = (model: string) =>
  makeProject({
    directory: join(work, 'made'),
    template: 'handler',
    model,
    signal: new AbortController().signal,
  });
const filesOf = (directory: string) =>
  readdirSync(join(work, directory), { recursive: true }).map(String).sort();

test('only the model is copied from a folder with more in it', async () => {
  cpSync(fixtureModel('strings').directory, join(work, 'mine/model/3'), { recursive: true });
  mkdirSync(join(work, 'mine/node_modules/left-pad'), { recursive: true });
  writeFileSync(join(work, 'mine/node_modules/left-pad/index.js'), '');
  await make(join(work, 'mine'));
  expect(filesOf('made/model')).toEqual(filesOf('mine/model'));
  expect(existsSync(join(work, 'made/goldens/sample.json'))).toBe(true);
});

test('a project is made of an archive, with each of its models', async () => {
  for (const name of ['cats', 'dogs']) {
    cpSync(fixtureModel('strings').directory, join(work, 'two', name, '1'), { recursive: true });
  }
  const archive = join(work, 'two.tar.gz');
  execFileSync('tar', ['czf', archive, '-C', join(work, 'two'), '.']);
  await make(archive);
  expect(filesOf('made/model')).toEqual(filesOf('two'));
  expect(JSON.parse(readFileSync(join(work, 'made/goldens/sample.json'), 'utf8'))).toBeTruthy();
});

test('a directory that holds something is named with the files that people know first', async () => {
  mkdirSync(join(work, 'made'));
  for (const name of ['.a', '.b', '.c', 'thesis.tex', 'notes']) {
    writeFileSync(join(work, 'made', name), '');
  }
  await expect(make(fixtureModel('strings').directory)).rejects.toThrow(
    'holds notes, thesis.tex, .a and 2 more. Give an empty or a new directory.',
  );
});

test.each([
  ['a new directory', [], []],
  ['a directory that was there', ['made/.git'], ['made', 'made/.git']],
])('an interruption leaves %s as it was', async (_, before, after) => {
  for (const name of before) mkdirSync(join(work, name), { recursive: true });
  const abort = new AbortController();
  const options = {
    directory: join(work, 'made'),
    template: 'handler',
    signal: abort.signal,
    onStep: (step: string) => {
      if (step.startsWith('asking')) abort.abort(new Error('interrupted'));
    },
  } as const;
  await expect(makeProject(options)).rejects.toThrow('stopped');
  expect(filesOf('.')).toEqual(after);
});
