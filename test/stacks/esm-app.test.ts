/** An app that is an ES module, in a project of its own, without a TypeScript loader. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import * as constructs from '../../lib/index.ts';
import { MODEL_DIR } from '../support/stacks.ts';

const APP = `
import * as everything from '@sagemaker-tfs/cdk';
import { ModelData, RealtimeEndpoint, ServingImage, SmokeTest, TensorFlowModel } from '@sagemaker-tfs/cdk';
import { App, Stack } from 'aws-cdk-lib/core';

const stack = new Stack(new App({ context: { 'aws:cdk:bundling-stacks': [] } }), 'Test');
const model = new TensorFlowModel(stack, 'Model', {
  image: ServingImage.fromUri('123456789012.dkr.ecr.us-east-1.amazonaws.com/serving:1', { variant: 'gpu' }),
  modelData: ModelData.fromDirectory(${JSON.stringify(MODEL_DIR)}),
});
const endpoint = new RealtimeEndpoint(stack, 'Endpoint', { variants: [{ model }] });
new SmokeTest(stack, 'SmokeTest', { endpoint, samples: [] });
console.log(JSON.stringify(Object.keys(everything)));
`;

test('named imports of every export work, and the app synthesizes', () => {
  const project = mkdtempSync(join(tmpdir(), 'esm-app-'));
  symlinkSync(resolve('node_modules'), join(project, 'node_modules'));
  writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module' }));
  writeFileSync(join(project, 'app.js'), APP);
  const outdir = join(project, 'cdk.out');
  const exported = execFileSync(process.execPath, ['app.js'], {
    cwd: project,
    encoding: 'utf8',
    env: { ...process.env, CDK_OUTDIR: outdir },
  });
  expect(JSON.parse(exported)).toEqual(expect.arrayContaining(Object.keys(constructs)));
  const template = JSON.parse(readFileSync(join(outdir, 'Test.template.json'), 'utf8')) as {
    Resources: Record<string, { Type: string }>;
  };
  expect(Object.values(template.Resources).map(({ Type }) => Type)).toContain(
    'AWS::SageMaker::Endpoint',
  );
});
