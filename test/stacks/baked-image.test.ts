/** Models that the image holds: what is built, what SageMaker gets, and what is refused. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { App, type Stack } from 'aws-cdk-lib/core';
import {
  addServingStacks,
  BakedImage,
  parseConfig,
  ServingImage,
  TensorFlowModel,
} from '../../lib/index.ts';
import { MODEL_DIR, stubContainer, testApp, testStack } from '../support/stacks.ts';

const MODEL = 'AWS::SageMaker::Model';
const URI = '123456789012.dkr.ecr.us-east-1.amazonaws.com/digits:3';

/** Image assets of an assembly. */
function imagesOf(stack: Stack): { directory: string; target: string }[] {
  const assembly = (stack.node.root as App).synth();
  const manifest = JSON.parse(
    readFileSync(join(assembly.directory, `${stack.stackName}.assets.json`), 'utf8'),
  ) as {
    dockerImages: Record<string, { source: { directory: string; dockerBuildTarget: string } }>;
  };
  return Object.values(manifest.dockerImages).map(({ source }) => ({
    directory: join(assembly.directory, source.directory),
    target: source.dockerBuildTarget,
  }));
}

function baked(stack: Stack): TensorFlowModel {
  const image = new ServingImage(stack, 'Image', { directory: stubContainer() });
  const inside = new BakedImage(stack, 'Baked', { image, model: MODEL_DIR });
  return new TensorFlowModel(stack, 'Model', { image: inside, modelData: inside.modelData });
}

test('the model is the last layer of the image, and its role reads nothing in S3', () => {
  const stack = testStack({ bundle: true });
  const model = baked(stack);
  const [resource] = Object.values(Template.fromStack(stack).findResources(MODEL));
  expect(Object.keys(resource?.Properties.PrimaryContainer)).toEqual(['Image']);
  expect(model.data.fingerprint).toMatch(/^[0-9a-f]{64}$/);
  const [below, inside] = imagesOf(stack);
  expect([below?.target, inside?.target]).toEqual(['model-server', 'baked']);
  const context = inside?.directory ?? '';
  expect(readFileSync(join(context, 'Dockerfile'), 'utf8')).toBe(
    'FROM scratch\n\nFROM model-server AS baked\nCOPY model/ /opt/sagemaker-tfs/model/\nENV SAGEMAKER_TFS_MODEL_DIR=/opt/sagemaker-tfs/model\n',
  );
  for (const path of ['dist/main.js', 'model/1/saved_model.pb', 'model/code/manifest.json'])
    expect([path, existsSync(join(context, path))]).toEqual([path, true]);
  expect(JSON.stringify(Template.fromStack(stack).toJSON())).not.toContain('s3:GetObject');
});

test('a stack that is not deployed packages nothing', () => {
  const stack = testStack({ bundle: false });
  baked(stack);
  expect(imagesOf(stack).map(({ target }) => target)).toEqual(['model-server']);
});

const stacks = (config: object): Record<string, Template> => {
  const app = testApp({ bundle: true });
  addServingStacks(app, parseConfig(config, 'serving.config.ts'));
  return Object.fromEntries(
    app.node.children.map((stack) => [stack.node.id, Template.fromStack(stack as Stack)]),
  );
};
const endpoint = { smokeTest: { samples: [] } };

test('baked: true of a model builds an image for it', () => {
  const image = { directory: stubContainer() };
  const { 'tensorflow-m': serving } = stacks({
    image,
    models: { m: { model: MODEL_DIR, baked: true, endpoint } },
  });
  serving?.hasResourceProperties(MODEL, {
    PrimaryContainer: { Image: Match.anyValue(), ModelDataUrl: Match.absent() },
  });
});

test('components of baked models have a role without a policy for archives', () => {
  const image = { directory: stubContainer() };
  const components = [{ name: 'a' }, { name: 'b', model: MODEL_DIR }];
  const sharing = {
    components,
    instanceType: 'ml.c6i.xlarge',
    managedInstances: { maxInstances: 2 },
  };
  const { 'tensorflow-m': serving } = stacks({
    image,
    models: { m: { model: MODEL_DIR, baked: true, endpoint: { ...endpoint, ...sharing } } },
  });
  serving?.resourceCountIs('AWS::SageMaker::InferenceComponent', 2);
  for (const { Properties } of Object.values(serving?.findResources('AWS::IAM::Policy') ?? {}))
    expect(Properties.PolicyDocument.Statement).not.toEqual([]);
});

test('without a model it is an image of your own, of each environment', () => {
  const fingerprint = 'ab'.repeat(32);
  const models = { m: { baked: true, fingerprint, endpoint } };
  const { 'tensorflow-m': serving } = stacks({ image: { uri: URI }, models });
  serving?.hasResourceProperties(MODEL, { PrimaryContainer: { Image: URI } });
  const env = (region: string) => ({
    name: region,
    account: '123456789012',
    region,
    image: { uri: URI.replace('us-east-1', region) },
  });
  const app = new App();
  addServingStacks(
    app,
    parseConfig(
      { models, environments: [env('us-east-1'), env('eu-west-1')] },
      'serving.config.ts',
    ),
  );
  for (const region of ['us-east-1', 'eu-west-1']) {
    const stack = app.node.findChild(region).node.findChild('tensorflow-m') as Stack;
    Template.fromStack(stack).hasResourceProperties(MODEL, {
      PrimaryContainer: { Image: URI.replace('us-east-1', region), ModelDataUrl: Match.absent() },
    });
  }
});

test.each([
  [
    { m: { model: MODEL_DIR, baked: true } },
    { uri: URI },
    /models\.m\.baked: an image with 'uri' is not built here/,
  ],
  [
    { m: { baked: true } },
    {},
    /models\.m\.baked: without a 'model', the image is one that holds it/,
  ],
  [
    { m: { baked: true }, n: { baked: true } },
    { uri: URI },
    /models\.n\.baked: the image is that of models\.m/,
  ],
  [
    { m: { archive: 's3://bucket/a.tar.gz', baked: true } },
    {},
    /wrong:\n {2}models\.m\.baked: it is packaged with a 'model'[^\n]*$/,
  ],
  [
    { m: { model: MODEL_DIR, baked: true, compression: 'none' } },
    {},
    /models\.m\.compression: a model in the image/,
  ],
  [
    { m: { baked: true, handler: 'a.ts' } },
    { uri: URI },
    /models\.m\.handler: it is packaged with a 'model'/,
  ],
  [
    { m: { model: MODEL_DIR, baked: true, environment: { SAGEMAKER_TFS_MODEL_DIR: '/m' } } },
    {},
    /the image sets SAGEMAKER_TFS_MODEL_DIR/,
  ],
  [
    { m: { model: MODEL_DIR, baked: true, batchWorker: { input: 's3://a/', output: 's3://b/' } } },
    {},
    /models\.m\.baked: workers/,
  ],
  [{ m: { baked: false } }, {}, /none of 'model'/],
])('%j with the image %j is refused', (models, image, message) => {
  const all = Object.entries(models).map(([name, model]) => [name, { endpoint, ...model }]);
  expect(() =>
    parseConfig({ image, models: Object.fromEntries(all) }, 'serving.config.ts'),
  ).toThrow(message);
});
