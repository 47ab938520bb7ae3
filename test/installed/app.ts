/** CDK apps of users, in JavaScript and TypeScript: synthesized, deployed to moto, and what was deployed served. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ACCOUNT, awsEnvironment, REGION } from '../rehearse/cdk.ts';
import { readDeployed } from '../rehearse/deployed.ts';
import { type Moto, startMoto } from '../rehearse/moto.ts';
import { copyExample, SAMPLE } from './command.ts';
import { type Project, ROOT } from './project.ts';
import { serving } from './served.ts';

/** Of an instance type that moto knows. */
const BODY = `
const app = new App({ outdir: process.argv[2] });
const stack = new Stack(app, 'Digits', { env: { account: '123456789012', region: 'us-east-1' } });
const model = new TensorFlowModel(stack, 'Model', {
  image: new ServingImage(stack, 'Image'),
  modelData: ModelData.fromDirectory('model', { handler: 'inference.ts', samples: ['samples/00000-7.jpg'] }),
});
const endpoint = new RealtimeEndpoint(stack, 'Endpoint', { variants: [{ model, instanceType: 'ml.c5.xlarge' }] });
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
  endpoint: { instanceType: 'ml.c5.xlarge' }, batch: { instanceType: 'ml.c5.xlarge' } } } });
`;

/** The cloud assemblies, and what makes each. */
const APPS: Readonly<Record<string, readonly string[]>> = {
  'out-js': ['app.cjs'],
  'out-ts': ['--import', 'tsx', 'app.mts'],
};

/** @throws Error where an app does not synthesize an endpoint with the packaged model */
export async function checkApp(project: Project): Promise<void> {
  copyExample(project);
  const imports = `import { ${NAMES} } from '@sagemaker-tfs/cdk';\nimport { App, Stack, Stage } from 'aws-cdk-lib/core';\n`;
  const requires = `const { ${NAMES} } = require('@sagemaker-tfs/cdk');\nconst { App, Stack, Stage } = require('aws-cdk-lib/core');\n`;
  project.write({
    'app.cjs': `${requires}${CONFIG}${BODY}`,
    'app.mts': `${imports}${CONFIG}${BODY.replace('process.argv[2]', "process.argv[2] ?? 'cdk.out'")}`,
  });
  await Promise.all(
    Object.entries(APPS).map(async ([out, app]) => {
      await project.run('node', [...app, out]);
      checkAssembly(join(project.directory, out), out);
    }),
  );
  // So that one of them has to be deployed.
  const [one, other] = Object.keys(APPS).map((out) => templateOf(join(project.directory, out)));
  assert.equal(one, other);
}

const templateOf = (assembly: string) =>
  readFileSync(join(assembly, 'Digits.template.json'), 'utf8');

/** @throws Error where what was synthesized cannot be deployed, or the deployed archive does not answer */
export async function checkDeploy(project: Project): Promise<void> {
  if (!existsSync(join(project.directory, 'out-ts'))) await checkApp(project);
  const moto = await startMoto();
  try {
    await deploy(project, 'out-ts', moto);
  } finally {
    await moto.stop();
  }
}

function checkAssembly(assembly: string, out: string): void {
  const template = templateOf(assembly);
  for (const type of ['Endpoint', 'EndpointConfig', 'Model']) {
    assert.ok(template.includes(`"AWS::SageMaker::${type}"`), `${out} has no ${type}`);
  }
  const assets = readdirSync(assembly).filter((name) => name.startsWith('asset.'));
  for (const file of ['model.tar.gz', 'Dockerfile', 'dist/main.js', 'index.js']) {
    const found = assets.some((asset) => existsSync(join(assembly, asset, file)));
    assert.ok(found, `no asset of ${out} holds ${file}`);
  }
}

/** Deploys every stack, fetches the archive as SageMaker would, and serves it. */
async function deploy(project: Project, out: string, moto: Moto): Promise<void> {
  const own = { ...process.env };
  const environment = {
    ...awsEnvironment(moto.url),
    CDK_DOCKER: join(ROOT, 'test/rehearse/docker-stand-in.mjs'),
    REHEARSE_BUILDER: 'none',
  };
  Object.assign(process.env, environment);
  try {
    const cdk = (...args: string[]) =>
      project.run('node_modules/.bin/cdk', [...args, '--app', out, '--no-notices']);
    await cdk('bootstrap', `aws://${ACCOUNT}/${REGION}`);
    const quickly = ['--require-approval', 'never', '--concurrency', '4'];
    await cdk('deploy', 'Digits', 'Config/*', ...quickly);
    const { archive } = await readDeployed('Digits', join(project.directory, `${out}-deployed`));
    await serving(project, [archive], async (url) => {
      const { stdout } = await project.command(['invoke', SAMPLE, '--url', url]);
      assert.equal(JSON.parse(stdout).predictions[0].digit, 7);
    });
  } finally {
    for (const name of Object.keys(environment)) delete process.env[name];
    Object.assign(process.env, own);
  }
}
