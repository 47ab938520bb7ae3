/** What `npm run synth` prints: the warnings and notes of all stacks, those within stages too. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');
const SYNTH = /cdk synth --quiet \\?"\*\*\\?"/;

const APP = `
const { Annotations, App, CfnResource, Stack, Stage } = require(${JSON.stringify(join(ROOT, 'node_modules/aws-cdk-lib/core'))});
const app = new App();
for (const scope of [app, new Stage(app, 'prod')]) {
  const stack = new Stack(scope, 'one');
  new CfnResource(stack, 'Topic', { type: 'AWS::SNS::Topic' });
  Annotations.of(stack).addWarning('a warning of ' + stack.node.path);
  Annotations.of(stack).addInfo('a note of ' + stack.node.path);
}
app.synth();
`;

test.each(['package.json', 'cli/src/init/templates.ts'])(
  'the script of %s asks for all',
  (file) => {
    expect(readFileSync(join(ROOT, file), 'utf8')).toMatch(SYNTH);
  },
);

test('asked for all, the CDK prints what stacks in stages say', () => {
  const folder = mkdtempSync(join(tmpdir(), 'synth-script-'));
  try {
    writeFileSync(join(folder, 'app.js'), APP);
    const cdk = join(ROOT, 'node_modules', '.bin', 'cdk');
    const command = `"${cdk}" synth --quiet "**" -a "node app.js" --no-notices 2>&1`;
    const printed = execFileSync('sh', ['-c', command], { cwd: folder, encoding: 'utf8' });
    for (const path of ['one', 'prod/one']) {
      expect(printed).toContain(`a warning of ${path}`);
      expect(printed).toContain(`a note of ${path}`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
