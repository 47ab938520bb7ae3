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
  models.m.endpoint.instanceCount: 0 is out of range. Give more than 0.
`,
  ],
  [
    'fields that are missing, or of another type',
    `export default {
      environments: [{ account: 123456789012, region: "us-east-1" }],
      models: { m: { model: ["a"], endpoint: { instanceCount: 1.5, enabled: "no" } } },
    };`,
    `serving.config.ts is wrong:
  models.m.model: a list is not a text.
  models.m.endpoint.instanceCount: 1.5 is not a whole number.
  models.m.endpoint.enabled: 'no' is not true or false.
  environments[0].name: missing. Give a text.
  environments[0].account: 123456789012 is not a text.
`,
  ],
  [
    'a name that a model cannot have, and lists that are too long or too short',
    `export default {
      models: { 'my model': { model: 'a', batch: { email: 'a@b.example', noticesAt: [] } } },
      environments: [],
    };`,
    `serving.config.ts is wrong:
  models.my model: a name has letters, digits and hyphens, begins with a letter, and has at most 31 characters.
  environments: it has to have at least 1 entry.
`,
  ],
  [
    'fields that constructs refuse',
    `const endpoint = { instanceType: "ml.c6i.large" };
    export default { models: { m: { model: "nowhere", endpoint }, n: { model: "none", endpoint } } };`,
    `serving.config.ts is wrong:
  models.m.model: DIR/nowhere is not a directory. Give the directory of a SavedModel: it holds saved_model.pb, or numbered versions of it.
  models.n.model: DIR/none is not a directory. Give the directory of a SavedModel: it holds saved_model.pb, or numbered versions of it.
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

const endpointOf = (
  props: string,
) => `import { RealtimeEndpoint, runApp } from '@sagemaker-tfs/cdk';
import { Stack } from 'aws-cdk-lib/core';

await runApp((app) => {
  const stack = new Stack(app, 'Own');
  new RealtimeEndpoint(stack, 'Endpoint', ${props});
});
`;

test.each([
  [
    "{ variants: [{ modle: 'm' }] }",
    "variants\\[0\\]\\.model: missing, and there is 'modle'\\. Give",
  ],
  ["{ variants: [{ instanceType: 'ml.c6i.large' }] }", 'variants\\[0\\]\\.model: missing\\. Give'],
])('a variant without a model is named: %s', (props, message) => {
  const { status, stderr } = run(endpointOf(props));
  expect(stderr).toMatch(new RegExp(`^Own/Endpoint: ${message} .*\\n  at app\\.ts:6:3\\n$`));
  expect(status).toBe(1);
});

test('what no check expects of untyped props names the line, and what names the prop', () => {
  const { status, stderr } = run(endpointOf('{}'));
  expect(stderr).toMatch(/\n {2}at app\.ts:6:3\n {2}A prop .* npx tsc --noEmit names it\.\n$/);
  expect(status).toBe(1);
  // In the app's own code the line says enough.
  const own = run(
    "import { runApp } from '@sagemaker-tfs/cdk';\nawait runApp((app) => app.none.more);\n",
  );
  expect(own.stderr).toMatch(/Cannot read .*\n {2}at app\.ts:2:\d+\n$/);
});

test('an error of the synthesis, where no prop is given, does not speak of props', () => {
  const { status, stderr } = run(`import { runApp } from '@sagemaker-tfs/cdk';
await runApp((app) => app.node.addValidation(undefined));
`);
  expect(stderr).toMatch(/^Cannot read .*\n {2}at app\.ts:2:\d+\n$/);
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
