/** A model in another stack than what runs it. */
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { App, CrossStackReferences, NestedStack, ReferenceStrength, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import {
  BatchTransform,
  ComponentEndpoint,
  type IModel,
  ModelData,
  RealtimeEndpoint,
  TensorFlowModel,
} from '../../lib/index.ts';
import { existingImage, testContext } from '../support/stacks.ts';

const FLAG = '@aws-cdk/core:defaultCrossStackReferences';
const { [FLAG]: _, ...STRONG } = testContext;
const WEAK = { ...STRONG, [FLAG]: 'weak' };
const ID = '@sagemaker-tfs/cdk:exportedModel';

const USERS: Record<string, (scope: Construct, model: IModel) => void> = {
  'an endpoint': (scope, model) => {
    new RealtimeEndpoint(scope, 'User', { variants: [{ model, instanceType: 'ml.c6i.large' }] });
  },
  components: (scope, model) => {
    new ComponentEndpoint(scope, 'User', {
      components: [
        { name: 'a', model },
        { name: 'b', model },
      ],
      instances: { instanceType: 'ml.c6i.2xlarge', maxInstances: 1 },
    });
  },
  'a batch transform': (scope, model) => {
    const place = (id: string) => ({
      bucket: Bucket.fromBucketName(scope, id, 'data'),
      prefix: `${id}/`,
    });
    new BatchTransform(scope, 'User', {
      model,
      input: place('in'),
      output: place('out'),
      contentType: 'application/json',
      instanceType: 'ml.c6i.xlarge',
    });
  },
};

/** Warnings of a stack that uses a model of another one, and its template. */
function use(
  addUser: (scope: Construct, model: IModel) => void,
  context: Record<string, unknown>,
  where: (stack: Stack, owner: Stack) => Construct = (stack) => stack,
  prepare: (model: IModel, user: Stack) => void = () => {},
): { warnings: string[]; imports: boolean } {
  const app = new App({ context: { ...context, 'aws:cdk:bundling-stacks': [] } });
  const owner = new Stack(app, 'Owner');
  const user = new Stack(app, 'User');
  const model = new TensorFlowModel(owner, 'Model', {
    image: existingImage({ variant: 'cpu' }),
    modelData: ModelData.fromArchive(Bucket.fromBucketName(owner, 'Data', 'data'), 'm/1.tar.gz'),
  });
  prepare(model, user);
  addUser(where(user, owner), model);
  const assembly = app.synth();
  const warnings = assembly.stacks.flatMap(({ messages }) =>
    messages.map(({ entry }) => String(entry.data)).filter((text) => text.includes(ID)),
  );
  return {
    warnings,
    imports: JSON.stringify(assembly.getStackByName('User').template).includes('Fn::ImportValue'),
  };
}

describe.each(Object.entries(USERS))('%s', (_name, addUser) => {
  test('that imports the name of its model warns of the update that fails, once', () => {
    const { warnings, imports } = use(addUser, STRONG);
    expect(imports).toBe(true);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/Owner\/Model is in the stack Owner, and User imports its name/);
    expect(warnings[0]).toContain(`Set "${FLAG}" to "weak"`);
  });

  test('does not warn with weak references, nor on the way to them, nor in one stack', () => {
    expect(use(addUser, WEAK).warnings).toEqual([]);
    expect(use(addUser, { ...STRONG, [FLAG]: 'both' }).warnings).toEqual([]);
    expect(use(addUser, STRONG, (_user, owner) => owner).warnings).toEqual([]);
    const nested = (_user: Stack, owner: Stack) => new NestedStack(owner, 'Nested');
    expect(use(addUser, STRONG, nested).warnings).toEqual([]);
  });
});

test('references that are weak for one stack or one model are no reason to warn', () => {
  const addUser = USERS['an endpoint'] ?? (() => {});
  const forStack = use(addUser, STRONG, undefined, (_model, user) =>
    CrossStackReferences.of(user).consume(ReferenceStrength.WEAK),
  );
  const forModel = use(addUser, STRONG, undefined, (model) =>
    CrossStackReferences.of(model).produce(ReferenceStrength.WEAK),
  );
  expect([forStack.warnings, forModel.warnings]).toEqual([[], []]);
});
