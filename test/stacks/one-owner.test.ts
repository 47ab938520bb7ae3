/** Projects whose stacks have one name cannot update each other's. */
import { Template } from 'aws-cdk-lib/assertions';
import { Stack } from 'aws-cdk-lib/core';
import { addServingStacks, parseConfig, type ServingConfigInput } from '../../lib/index.ts';
import { MODEL_DIR, stubContainer, testApp } from '../support/stacks.ts';

const image = {
  uri: '123456789012.dkr.ecr.us-east-1.amazonaws.com/serving:1',
  variant: 'cpu',
} as const;
const CPU = { instanceType: 'ml.c6i.xlarge' };

/** The parameter that names the owner of a stack, and the models that wait for it. */
function ownerOf(stackName: string, config: Pick<ServingConfigInput, 'name' | 'models'> & object) {
  const app = testApp();
  addServingStacks(app, parseConfig({ image, ...config }, 'test'));
  const stack = app.node.findAll().find((one) => Stack.isStack(one) && one.stackName === stackName);
  const template = Template.fromStack(stack as Stack);
  const owners = Object.entries(template.findResources('AWS::SSM::Parameter')).filter(([id]) =>
    id.startsWith('Owner'),
  );
  expect(owners).toHaveLength(1);
  const [[id = '', { Properties = {} } = {}] = []] = owners;
  const models = Object.values(template.findResources('AWS::SageMaker::Model'));
  return { id, name: Properties.Name as string, models };
}

const endpoint = (name: string, model: string) =>
  ownerOf(`${name}-${model}`, { name, models: { [model]: { model: MODEL_DIR, endpoint: CPU } } });

test('each brings a parameter of the same name under another id, before its models', () => {
  const [one, other] = [endpoint('vision', 'tiles-prod'), endpoint('vision-tiles', 'prod')];
  expect(one.name).toBe('/sagemaker-tfs/stack-of-one-project/vision-tiles-prod');
  expect(other.name).toBe(one.name);
  expect(other.id).not.toBe(one.id);
  for (const { id, models } of [one, other]) {
    expect(models).toEqual([expect.objectContaining({ DependsOn: expect.arrayContaining([id]) })]);
  }
});

test('one project keeps its own, whatever else changes', () => {
  const again = ownerOf('vision-prod', {
    name: 'vision',
    models: { prod: { model: MODEL_DIR, endpoint: { instanceType: 'ml.m5.large' } } },
  });
  expect(again.id).toBe(endpoint('vision', 'prod').id);
});

test('a batch, an endpoint and the image whose stacks have one name', () => {
  const batch = ownerOf('a-b-batch', {
    name: 'a',
    models: { b: { model: MODEL_DIR, batch: CPU } },
  });
  const serving = endpoint('a-b', 'batch');
  expect([serving.name, serving.id === batch.id]).toEqual([batch.name, false]);
  const built = ownerOf('a-b-image', {
    name: 'a-b',
    models: { m: { model: MODEL_DIR, endpoint: CPU } },
    image: { directory: stubContainer() },
  } as never);
  expect(built.name).toBe(endpoint('a', 'b-image').name);
});

test('environments of one account', () => {
  const of = (environment: string, name: string) =>
    ownerOf(`${environment}-${name}-m`, {
      name,
      models: { m: { model: MODEL_DIR, endpoint: CPU } },
      environments: [{ name: environment, account: '123456789012', region: 'us-east-1' }],
    } as never);
  const [one, other] = [of('a', 'b-c'), of('a-b', 'c')];
  expect([one.name, one.id === other.id]).toEqual([other.name, false]);
});
