import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { callable, commandName } from './command-name.ts';

let work: string;
beforeAll(() => {
  work = mkdtempSync(join(tmpdir(), 'command-name-'));
  for (const folder of ['bin', 'project/node_modules/.bin']) {
    mkdirSync(join(work, folder), { recursive: true });
    writeFileSync(join(work, folder, 'sagemaker-tfs'), '');
    chmodSync(join(work, folder, 'sagemaker-tfs'), 0o755);
  }
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

test.each([
  ['a global install', ['bin'], undefined, 'sagemaker-tfs'],
  ['none on the PATH', ['none'], undefined, 'npx sagemaker-tfs'],
  ['only where npm looks', ['project/node_modules/.bin'], undefined, 'npx sagemaker-tfs'],
  ['npx, beside a global install', ['bin'], 'exec', 'npx sagemaker-tfs'],
  ['npm run', ['project/node_modules/.bin', 'none'], 'run-script', 'npx sagemaker-tfs'],
])('%s', (_, folders, npm, expected) => {
  const PATH = folders.map((folder) => join(work, folder)).join(delimiter);
  expect(commandName({ PATH, ...(npm && { npm_command: npm }) })).toBe(expected);
});

test('commands of a message can be copied; names, paths and packages stay', () => {
  const verbs = ['serve', 'batch'];
  const as = (text: string) => callable(text, verbs, 'npx sagemaker-tfs');
  expect(as('Start it with: sagemaker-tfs serve DIR, or `sagemaker-tfs batch local`.')).toBe(
    'Start it with: npx sagemaker-tfs serve DIR, or `npx sagemaker-tfs batch local`.',
  );
  for (const text of [
    'npx sagemaker-tfs serve DIR',
    'sagemaker-tfs 0.1.0',
    'sagemaker-tfs: cannot read a.jpg',
    '/usr/bin/sagemaker-tfs serve',
    '@scope/sagemaker-tfs serve',
    'sagemaker-tfs server',
  ])
    expect(as(text)).toBe(text);
});
