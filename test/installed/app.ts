/** CDK apps of users, in JavaScript and TypeScript, synthesized. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyExample } from './command.ts';
import type { Project } from './project.ts';

const BODY = `
const app = new App({ outdir: process.argv[2] });
const stack = new Stack(app, 'Digits', { env: { account: '123456789012', region: 'us-east-1' } });
const model = new TensorFlowModel(stack, 'Model', {
  image: new ServingImage(stack, 'Image'),
  modelData: ModelData.fromDirectory('model', { handler: 'inference.ts', samples: ['samples/00000-7.jpg'] }),
});
const endpoint = new RealtimeEndpoint(stack, 'Endpoint', { variants: [{ model, instanceType: 'ml.c6i.xlarge' }] });
new SmokeTest(stack, 'SmokeTest', { endpoint, samples: [{ name: 'seven', file: 'samples/00000-7.jpg', contentType: 'application/x-image', expect: [{ path: '$.predictions[0].digit', equals: 7 }] }] });
addServingStacks(new Stage(app, 'Config', { env: { account: '123456789012', region: 'us-east-1' } }), parseConfig(config, 'serving.config'));
app.synth();
`;

const NAMES = [
  ...['addServingStacks', 'defineConfig', 'ModelData', 'parseConfig', 'RealtimeEndpoint'],
  ...['ServingImage', 'SmokeTest', 'TensorFlowModel'],
].join(', ');
const CONFIG = `
const config = defineConfig({ models: { digits: { model: 'model', handler: 'inference.ts',
  endpoint: { instanceType: 'ml.c6i.xlarge' }, batch: { instanceType: 'ml.c6i.xlarge' } } } });
`;

/** @throws Error where an app does not synthesize an endpoint with the packaged model */
export async function checkApp(project: Project): Promise<void> {
  copyExample(project);
  const imports = `import { ${NAMES} } from '@sagemaker-tfs/cdk';\nimport { App, Stack, Stage } from 'aws-cdk-lib/core';\n`;
  const requires = `const { ${NAMES} } = require('@sagemaker-tfs/cdk');\nconst { App, Stack, Stage } = require('aws-cdk-lib/core');\n`;
  project.write({
    'app.cjs': `${requires}${CONFIG}${BODY}`,
    'app.mts': `${imports}${CONFIG}${BODY.replace('process.argv[2]', "process.argv[2] ?? 'cdk.out'")}`,
  });
  await project.run('node', ['app.cjs', 'out-js']);
  await project.run('node', ['--import', 'tsx', 'app.mts', 'out-ts']);
  for (const out of ['out-js', 'out-ts']) {
    const assembly = join(project.directory, out);
    const template = readFileSync(join(assembly, 'Digits.template.json'), 'utf8');
    for (const type of ['Endpoint', 'EndpointConfig', 'Model']) {
      assert.ok(template.includes(`"AWS::SageMaker::${type}"`), `${out} has no ${type}`);
    }
    const assets = readdirSync(assembly).filter((name) => name.startsWith('asset.'));
    for (const file of ['model.tar.gz', 'Dockerfile', 'dist/main.js', 'index.js']) {
      const found = assets.some((asset) => existsSync(join(assembly, asset, file)));
      assert.ok(found, `no asset of ${out} holds ${file}`);
    }
  }
}
