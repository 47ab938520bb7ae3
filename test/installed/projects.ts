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

const SCRIPTS = ['lint', 'typecheck', 'test', 'rehearse'];

/** @throws Error with what a project's script said where it fails */
export async function checkProjects(project: Project): Promise<void> {
  copyExample(project);
  for (const { template, model } of PROJECTS) {
    const directory = `projects/${template}`;
    const args = ['init', directory, '--template', template, '--json'];
    await project.command(model ? [...args, '--model', model] : args);
    await project.command(['init', directory], { status: 1 });
    await install(project, template, directory);
    for (const script of SCRIPTS) {
      await project.run('npm', ['run', '--silent', script, '--prefix', directory]);
    }
    if (template === 'endpoint') await checkOtherConfig(project, directory);
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

/** The first project has all that the others need, which borrow it: four installations would take minutes. */
async function install(project: Project, template: string, directory: string): Promise<void> {
  if (template === 'endpoint') {
    const args = ['install', '--no-audit', '--no-fund', '--prefer-offline', ...TARBALLS];
    await project.run('npm', [...args, '--prefix', directory]);
    return;
  }
  const modules = (name: string) => join(project.directory, 'projects', name, 'node_modules');
  symlinkSync(modules('endpoint'), modules(template));
}
