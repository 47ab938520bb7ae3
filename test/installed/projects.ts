/** Projects made by `sagemaker-tfs init`: they install, compile, pass their tests, package and synthesize. */
import assert from 'node:assert/strict';
import { readFileSync, symlinkSync } from 'node:fs';
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
    const golden = readFileSync(join(project.directory, directory, 'goldens/sample.json'), 'utf8');
    assert.match(golden, /"predictions"/);
  }
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
