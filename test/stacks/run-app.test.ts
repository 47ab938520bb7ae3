/** Apps that cannot work, run as the CDK runs them: what their users read. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const CONFIG_APP = `import { addServingStacks, readConfig, runApp } from '@sagemaker-tfs/cdk';

await runApp(async (app) => {
  addServingStacks(app, await readConfig(String(app.node.tryGetContext('config') ?? 'serving.config.ts')));
});
`;

let project: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'run-app-'));
  symlinkSync(resolve('node_modules'), join(project, 'node_modules'));
  write('package.json', '{ "type": "module" }');
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

const write = (name: string, text: string) => writeFileSync(join(project, name), text);

function run(app: string, environment: Readonly<Record<string, string>> = {}) {
  write('app.ts', app);
  const { CDK_DEBUG: _, ...own } = process.env;
  return spawnSync(process.execPath, ['--import', 'tsx', 'app.ts'], {
    cwd: project,
    encoding: 'utf8',
    env: { ...own, CDK_OUTDIR: join(project, 'cdk.out'), ...environment },
  });
}

test.each<[string, string | undefined, string]>([
  [
    'a wrong field',
    'export default { models: { m: { model: "model", endpoint: { instanceCount: 0 } } } };',
    `serving.config.ts is wrong:
  models.m.endpoint.instanceCount: Too small: expected number to be >0
`,
  ],
  [
    'a field that a construct refuses',
    'export default { models: { m: { model: "nowhere", endpoint: { instanceType: "ml.c6i.large" } } } };',
    `models.m.model: DIR/nowhere is not a directory. Give the directory of a SavedModel: it holds saved_model.pb, or numbered versions of it
`,
  ],
  [
    'no file',
    undefined,
    `serving.config.ts does not exist. Name the configuration with -c config=FILE, relative to DIR.
`,
  ],
  [
    'no default export',
    'export const config = {};',
    `serving.config.ts has no default export. Write export default defineConfig({ models: { ... } }).
`,
  ],
  [
    'a file that throws',
    'const none = undefined;\nexport default { models: none.models };',
    `serving.config.ts cannot be loaded: Cannot read properties of undefined (reading 'models')
  at serving.config.ts:2:31
Mend the file.
`,
  ],
])('a configuration with %s shows no stack', (_, config, expected) => {
  if (config !== undefined) write('serving.config.ts', config);
  const { status, stderr } = run(CONFIG_APP);
  expect(stderr.replaceAll(project, 'DIR')).toBe(expected);
  expect(status).toBe(1);
});

test('a file that does not compile shows its line', () => {
  write('serving.config.ts', 'export default {\n  models: {{ };\n');
  const { status, stderr } = run(CONFIG_APP);
  expect(stderr).toMatch(/serving\.config\.ts:2:\d+: ERROR: /);
  expect(stderr).not.toMatch(/node_modules/);
  expect(status).toBe(1);
});

const OWN_APP = `import { ModelData, runApp, ServingImage, TensorFlowModel } from '@sagemaker-tfs/cdk';
import { Stack } from 'aws-cdk-lib/core';

await runApp((app) => {
  const stack = new Stack(app, 'Own');
  new TensorFlowModel(stack, 'Model', {
    image: ServingImage.fromUri('123456789012.dkr.ecr.us-east-1.amazonaws.com/serving:1', { variant: 'gpu' }),
    modelData: ModelData.fromDirectory('nowhere'),
  });
});
`;

test('what a construct refuses shows the line that makes it', () => {
  const { status, stderr } = run(OWN_APP);
  expect(stderr).toMatch(
    /^Own\/Model\/Package: model: .*nowhere is not a directory\. .*\n {2}at app\.ts:6:3\n$/,
  );
  expect(status).toBe(1);
});

test('CDK_DEBUG shows the stack', () => {
  const { status, stderr } = run(OWN_APP, { CDK_DEBUG: 'true' });
  expect(stderr).toMatch(/nowhere is not a directory/);
  expect(stderr).toMatch(/\n {4}at .*\n {4}at /);
  expect(status).toBe(1);
});

test('an app that works is synthesized', () => {
  const app = `import { runApp } from '@sagemaker-tfs/cdk';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Stack } from 'aws-cdk-lib/core';
await runApp((app) => { new Topic(new Stack(app, 'Own'), 'Out'); });
`;
  const { status, stderr } = run(app);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(JSON.stringify(require(join(project, 'cdk.out/Own.template.json')))).toContain(
    '"AWS::SNS::Topic"',
  );
});
