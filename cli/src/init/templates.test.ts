import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  comesFromTarballs,
  filesOf,
  installCommand,
  TEMPLATES,
  type Template,
} from './templates.ts';

const ROOT = join(__dirname, '..', '..', '..');

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'templates-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function filesFor(template: Template): Readonly<Record<string, string>> {
  const sample = { sample: 'samples/sample.npz', contentType: 'application/x-npz' };
  return filesOf({ template, name: 'halves', ...sample });
}

function writeFiles(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
}

test('git leaves out what commands make, and keeps tarballs in vendor/', () => {
  const made = ['.cache/sagemaker-tfs/files.json', 'cdk.out/tree.json', 'halves-0.1.0.tgz'];
  const kept = ['vendor/sagemaker-tfs-0.1.0.tgz', 'vendor/sagemaker-tfs-cdk-0.1.0.tgz'];
  const files = filesFor('endpoint');
  writeFiles({ ...files, ...Object.fromEntries([...made, ...kept].map((name) => [name, '{}'])) });
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: directory, encoding: 'utf8' }).trim().split('\n');
  git('init', '--quiet');
  const seen = git('ls-files', '--others', '--exclude-standard');
  expect(seen.sort()).toEqual([...Object.keys(files), ...kept].sort());
});

test.each(['endpoint', 'batch', 'cdk'] as const)(
  'the app of %s has the flags that the CDK recommends, as this repository',
  (template) => {
    const { context } = JSON.parse(filesFor(template)['cdk.json'] as string);
    expect(context['@aws-cdk/aws-s3:serverAccessLogsUseBucketPolicy']).toBe(true);
    const own = JSON.parse(readFileSync(join(ROOT, 'cdk.json'), 'utf8'));
    expect(own.context).toEqual(context);
  },
);

test('a project installs the CDK with which the constructs are deployed here', () => {
  const own = JSON.parse(readFileSync(join(__dirname, '..', '..', '..', 'package.json'), 'utf8'));
  const { devDependencies } = JSON.parse(filesFor('endpoint')['package.json'] as string);
  expect(devDependencies['aws-cdk']).toBe(`^${own.devDependencies['aws-cdk']}`);
});

test.each(TEMPLATES)('the handler of %s names every file that names it', (template) => {
  const { 'inference.ts': handler, ...others } = filesFor(template);
  for (const [name, text] of Object.entries(others)) {
    if (name === 'README.md' || !text.includes('inference.ts')) continue;
    expect([name, handler?.includes(name)]).toEqual([name, true]);
  }
});

test.each(TEMPLATES)(
  'the README of %s installs from tarballs while versions begin with 0',
  (template) => {
    const readme = filesFor(template)['README.md'];
    const command = comesFromTarballs() ? /^npm install PATH\/.*\.tgz$/ : /^npm install$/;
    expect(installCommand(template, 'PATH')).toMatch(command);
    expect(readme).toContain(installCommand(template, 'PATH'));
    expect(readme).toContain(installCommand(template, './vendor'));
  },
);

test.each(TEMPLATES)('rehearse of %s checks the types before it packages', (template) => {
  const { scripts } = JSON.parse(filesFor(template)['package.json'] as string);
  expect(scripts.typecheck).toMatch(/^tsc /);
  expect(scripts.rehearse).toMatch(/^npm run typecheck && npm run package && /);
});

test.each([
  ['endpoint', 'serving.config.ts', /smokeTest: \{/],
  ['cdk', 'app.ts', /new SmokeTest\(/],
] as const)(
  'the endpoint of %s answers the sample, or the deployment fails',
  (template, file, smokeTest) => {
    const text = filesFor(template)[file];
    expect(text).toMatch(smokeTest);
    expect(text).toMatch(/file: 'samples\/sample.npz',\s+contentType: 'application\/x-npz'/);
    // Without an expectation any answer of 200 would do.
    expect(text).toContain("expect: [{ golden: 'goldens/sample.json' }]");
  },
);

describe.each(['endpoint', 'batch'] as const)('the app of %s', (template) => {
  const marked = (text: string) => `throw new Error('read: ${text}'); export default {};`;
  const errorOf = (context: object) => {
    const { status, stderr } = spawnSync(process.execPath, ['--import', 'tsx', 'app.ts'], {
      cwd: directory,
      encoding: 'utf8',
      env: { ...process.env, CDK_CONTEXT_JSON: JSON.stringify(context) },
    });
    expect(status).toBe(1);
    return stderr;
  };
  beforeEach(() => {
    writeFiles(filesFor(template));
    writeFiles({ 'serving.config.ts': marked('serving'), 'other.config.ts': marked('other') });
    symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  });

  test('reads serving.config.ts', () => {
    expect(errorOf({})).toContain('read: serving');
  });
  test('reads the file that -c config=FILE names', () => {
    expect(errorOf({ config: 'other.config.ts' })).toContain('read: other');
  });
  test('fails where that file is missing', () => {
    expect(errorOf({ config: 'missing.config.ts' })).toContain('missing.config.ts');
  });
});
