/** Every property that a template sets is one that AWS's service models take, over many configurations. */
import { batchTemplate, machineOf, run } from '../stacks/batch-machine.ts';
import { batchProblems } from './batch-resources.ts';
import {
  componentTemplates,
  type MatrixTemplate,
  matrixTemplates,
  pairs,
  TAKEN,
} from './matrix.ts';
import { OPERATIONS, problemsOfResource, templateProblems } from './template-problems.ts';
import { problemsOf } from './validate.ts';
import { workerTemplates } from './worker-matrix.ts';

const { templates, taken } = matrixTemplates();

test('the templates of 64 configurations set only what AWS takes', () => {
  expect(taken).toBe(TAKEN);
  expect(pairs().length % 7).not.toBe(0);
  const problems = new Set<string>();
  const seen = new Set<string>();
  for (const resource of templates.flatMap((template) => Object.values(template))) {
    seen.add(resource.Type);
    for (const problem of problemsOfResource(resource)) problems.add(problem);
  }
  expect([...problems]).toEqual([]);
  expect(JSON.stringify(templates)).toContain('InstancePools');
  for (const type of [
    ...Object.keys(OPERATIONS),
    'AWS::SageMaker::Endpoint',
    'AWS::ApplicationAutoScaling::ScalingPolicy',
    'AWS::ApiGateway::DomainName',
  ]) {
    expect(seen).toContain(type);
  }
});

test('the templates of endpoints of components set only what AWS takes', () => {
  const made = componentTemplates();
  expect(made.length).toBeGreaterThan(20);
  expect([...new Set(made.flatMap((Resources) => templateProblems({ Resources })))]).toEqual([]);
  const text = JSON.stringify(made);
  for (const property of ['ManagedInstanceScaling', 'DeploymentConfig', 'VpcConfig', 'KmsKeyId']) {
    expect(text).toContain(property);
  }
});

/** Text of every resource that writes to buckets before a stack is complete. */
function writers(template: MatrixTemplate): string {
  const types = ['AWS::SageMaker::EndpointConfig', 'Custom::CDKBucketDeployment'];
  const all = Object.values(template).filter(({ Type }) => types.includes(Type));
  const logging = Object.values(template).map((bucket) => bucket.Properties?.LoggingConfiguration);
  return JSON.stringify([all, logging]);
}

test('a first deployment that fails finds no bucket with objects that it must delete', () => {
  const found = new Set<string>();
  for (const template of templates) {
    const written = writers(template);
    const emptied = JSON.stringify(
      Object.values(template).filter(({ Type }) => Type === 'Custom::S3AutoDeleteObjects'),
    );
    for (const [id, { Type, DeletionPolicy = 'Delete' }] of Object.entries(template)) {
      if (Type !== 'AWS::S3::Bucket') continue;
      const filled = written.includes(`"${id}"`);
      const gone = emptied.includes(`"${id}"`) ? 'emptied' : 'deleted';
      const fate = DeletionPolicy === 'Retain' ? 'kept' : gone;
      found.add(`${filled ? 'filled' : 'empty'}, ${fate}`);
    }
  }
  // 'filled, deleted' is CloudFormation's ROLLBACK_FAILED.
  expect([...found].sort()).toEqual(['empty, deleted', 'filled, emptied', 'filled, kept']);
});

test('workers on AWS Batch set only what AWS takes', () => {
  const workers = workerTemplates();
  expect(workers.length).toBeGreaterThan(60);
  const problems = new Set<string>();
  const seen = new Set<string>();
  for (const resource of workers.flatMap((template) => Object.values(template))) {
    const found = batchProblems(resource.Type, resource.Properties ?? {});
    if (found) seen.add(resource.Type);
    for (const problem of found ?? problemsOfResource(resource)) problems.add(problem);
  }
  expect([...problems]).toEqual([]);
  expect([...seen].sort()).toEqual([
    'AWS::Batch::ComputeEnvironment',
    'AWS::Batch::JobDefinition',
    'AWS::Batch::JobQueue',
  ]);
});

test('the jobs of the state machine set only what AWS takes', async () => {
  const machine = machineOf(batchTemplate());
  for (const input of [
    {},
    { instanceType: 'ml.c6i.xlarge' },
    {
      splitType: 'Line',
      batchStrategy: 'MultiRecord',
      assembleWith: 'Line',
      environment: { A: '1' },
    },
  ]) {
    const { jobs } = await run(machine, input);
    expect(
      jobs.flatMap((job) =>
        problemsOf('sagemaker', 'CreateTransformJob', { ...job, ModelName: 'm' }),
      ),
    ).toEqual([]);
  }
});

test('a value that AWS does not take is found', () => {
  const model = {
    ModelName: 'a_b',
    ExecutionRoleArn: { 'Fn::GetAtt': ['Role', 'Arn'] },
    Colour: 1,
  };
  expect(problemsOf('sagemaker', 'CreateModel', model)).toEqual([
    expect.stringMatching(/ModelName: 'a_b' does not match/),
    'CreateModel: has no Colour',
  ]);
});
