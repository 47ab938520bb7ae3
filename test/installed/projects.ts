/** Projects made by `sagemaker-tfs init`: they install, compile, pass their tests, package and synthesize. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyExample } from './command.ts';
import { type Project, TARBALLS } from './project.ts';

/** Each template, and the model it is made for: the example, or the user's own. */
const PROJECTS = [
  { template: 'endpoint', model: 'model' },
  { template: 'batch', model: undefined },
  { template: 'handler', model: undefined },
  { template: 'cdk', model: 'model' },
];

/** `rehearse` checks the types, packages, verifies and synthesizes; ten-minutes.ts rehearses an endpoint. */
const scriptsOf = (template: string) => [
  ...['lint', 'test'],
  template === 'endpoint' ? 'typecheck' : 'rehearse',
];

/** @throws Error with what a project's script said where it fails */
export async function checkProjects(project: Project): Promise<void> {
  copyExample(project);
  for (const { template, model } of PROJECTS) {
    const directory = `projects/${template}`;
    const args = ['init', directory, '--template', template, '--json'];
    await project.command(model ? [...args, '--model', model] : args);
    await project.command(['init', directory], { status: 2 });
    await install(project, template, directory);
    for (const script of scriptsOf(template)) {
      await project.run('npm', ['run', '--silent', script, '--prefix', directory]);
    }
    if (template === 'endpoint') {
      await checkOtherConfig(project, directory);
      await checkWrongConfig(project, directory);
    }
    if (template === 'cdk') await checkWrongProp(project, directory);
    const golden = readFileSync(join(project.directory, directory, 'goldens/sample.json'), 'utf8');
    assert.match(golden, /"predictions"/);
  }
}

/** `-c config=FILE` takes another file, and fails where it is missing. */
async function checkOtherConfig(project: Project, directory: string): Promise<void> {
  const inside = (name: string) => join(project.directory, directory, name);
  const config = readFileSync(inside('serving.config.ts'), 'utf8');
  writeFileSync(inside('other.config.ts'), config.replace(/name: '[^']*'/, "name: 'other'"));
  const synth = ['run', '--silent', 'synth', '--prefix', directory, '--', '-c'];
  await project.run('npm', [...synth, 'config=other.config.ts']);
  assert.ok(existsSync(inside('cdk.out/other-model.template.json')));
  await project.run('npm', [...synth, 'config=missing.config.ts'], { status: 1 });
}

/** A wrong field is shown with its path, without a stack. */
async function checkWrongConfig(project: Project, directory: string): Promise<void> {
  const stderr = await synthesizeWrong(project, directory, 'serving.config.ts', [
    'instanceType:',
    'instanceTyp:',
  ]);
  assert.match(
    stderr,
    /^serving\.config\.ts is wrong:\n {2}models\.model\.endpoint: unknown field 'instanceTyp'; did you mean 'instanceType'\?$/m,
  );
}

/** A prop that a construct refuses is shown with the line of the app; `--debug` shows the stack. */
async function checkWrongProp(project: Project, directory: string): Promise<void> {
  const stderr = await synthesizeWrong(project, directory, 'app.ts', [
    'ml.c6i.xlarge',
    'c6i.xlarge',
  ]);
  assert.match(stderr, /^cdk\/Endpoint: variants\[0\]\.instanceType: .*\n {2}at app\.ts:\d+:\d+$/m);
}

/** What synth writes to stderr once `wrong[0]` of a file has become `wrong[1]`. The file is then as it was. */
async function synthesizeWrong(
  project: Project,
  directory: string,
  name: string,
  wrong: readonly [string, string],
): Promise<string> {
  const file = join(project.directory, directory, name);
  const right = readFileSync(file, 'utf8');
  assert.ok(right.includes(wrong[0]));
  writeFileSync(file, right.replace(...wrong));
  try {
    const synth = ['run', '--silent', 'synth', '--prefix', directory];
    const { stderr } = await project.run('npm', synth, { status: 1 });
    assert.doesNotMatch(stderr, /^ {4}at |node_modules/m);
    if (name === 'app.ts') {
      const debug = await project.run('npm', [...synth, '--', '--debug'], { status: 1 });
      assert.match(debug.stderr, /^ {4}at /m);
    }
    return stderr;
  } finally {
    writeFileSync(file, right);
  }
}

/** The first project has all that the others need, which borrow it: four installations would take minutes. */
async function install(project: Project, template: string, directory: string): Promise<void> {
  if (template === 'endpoint') {
    const args = ['install', '--no-audit', '--no-fund', '--prefer-offline', ...TARBALLS];
    await project.run('npm', [...args, '--prefix', directory]);
    // As its own workflow does, from the lockfile that the line before wrote.
    const fromLockfile = ['ci', '--no-audit', '--no-fund', '--prefer-offline'];
    await project.run('npm', [...fromLockfile, '--prefix', directory]);
    return;
  }
  const modules = (name: string) => join(project.directory, 'projects', name, 'node_modules');
  symlinkSync(modules('endpoint'), modules(template));
}
