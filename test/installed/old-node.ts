/** On a Node that is too old every entry says so in one sentence. */
import assert from 'node:assert/strict';
import { basename, join } from 'node:path';
import type { Project } from './project.ts';

/** The last Node that is too old for the packages and young enough for people to have. */
const OLD = '18';

/** @throws AssertionError where an entry says something else, or nothing */
export async function checkOldNode(project: Project): Promise<void> {
  const folder = join(project.directory, '..', `${basename(project.directory)}-node`);
  const alias = `old-node@npm:node-${process.platform}-${process.arch}@${OLD}`;
  const npm = ['install', '--no-audit', '--no-fund', '--prefix', folder, alias];
  await project.run('npm', npm);
  const node = join(folder, 'node_modules', 'old-node', 'bin', 'node');
  const refused = async (name: string, args: readonly string[]) => {
    const { stderr } = await project.run(node, args, { status: 1 });
    const lines = stderr.split('\n').filter((line) => line.includes('needs Node'));
    assert.equal(lines.length, 1, stderr);
    assert.match(stderr, new RegExp(`${name} needs Node 20\\.19 or later, this is ${OLD}\\.`));
    assert.doesNotMatch(stderr, /SyntaxError/);
  };
  await refused('sagemaker-tfs', ['node_modules/sagemaker-tfs/bin/sagemaker-tfs.js', 'doctor']);
  for (const name of ['sagemaker-tfs', 'sagemaker-tfs/testing', '@sagemaker-tfs/cdk']) {
    await refused(name, ['--input-type=module', '--eval', `import '${name}';`]);
  }
  for (const name of ['sagemaker-tfs/testing', '@sagemaker-tfs/cdk']) {
    await refused(name, ['--eval', `require('${name}');`]);
  }
}
