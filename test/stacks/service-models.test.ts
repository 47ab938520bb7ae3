/** Every property that a template sets is one that AWS's service models take, over many configurations. */

import { batchProblems } from '../service-models/batch-resources.ts';
import { type MatrixTemplate, matrix, refuses } from '../service-models/matrix.ts';
import { configFields, schemaFields } from '../service-models/schema-fields.ts';
import { OPERATIONS, problemsOfResource } from '../service-models/template-problems.ts';
import { problemsOf } from '../service-models/validate.ts';
import { workerTemplates } from '../service-models/worker-matrix.ts';
import { batchTemplate, machineOf, run } from './batch-machine.ts';

// A synth prints the warnings of its stacks.
jest.spyOn(console, 'error').mockImplementation(() => {});

const { configured, conflicts } = matrix();
const templates = configured.flatMap((one) => one.templates);

test('configurations with every possible pair of choices set only what AWS takes', () => {
  expect(configured.length).toBeGreaterThan(60);
  const problems = new Set<string>();
  const seen = new Set<string>();
  for (const resource of templates.flatMap((template) => Object.values(template))) {
    seen.add(resource.Type);
    const found = batchProblems(resource.Type, resource.Properties ?? {});
    for (const problem of found ?? problemsOfResource(resource)) problems.add(problem);
  }
  expect([...problems]).toEqual([]);
  for (const type of [
    ...Object.keys(OPERATIONS),
    'AWS::Batch::ComputeEnvironment',
    'AWS::Batch::JobDefinition',
    'AWS::Batch::JobQueue',
    'AWS::SageMaker::Endpoint',
    'AWS::SageMaker::InferenceComponent',
    'AWS::SageMaker::ModelPackageGroup',
    'AWS::StepFunctions::StateMachine',
    'AWS::ApplicationAutoScaling::ScalingPolicy',
    'AWS::ApiGateway::DomainName',
  ]) {
    expect(seen).toContain(type);
  }
});

/**
 * What no template shows: what is packaged and asked; days and seconds, where a few numbers are enough; and what a
 * GPU image has anyway.
 */
const NOT_SET =
  /\.(preprocess|postprocess|handler)\b|samples\[\]|(Days|Seconds) = |\.accelerators$/;

/** Variants and components have the fields of an endpoint and of a model, environments those of all. */
const general = (field: string) =>
  field
    .replace(/^models\.\*\.(endpoint\.((variants\[\]|shadow|components\[\])\.)?)?/, 'one.')
    .replace(/^environments\[\]\./, '');

test('the configurations set every field of the schema, and every value of its enumerations', () => {
  const known = schemaFields();
  const set = new Set(configured.flatMap(({ config }) => configFields(config, known)).map(general));
  const missing = [...known].filter((field) => !set.has(general(field)) && !NOT_SET.test(field));
  expect(missing).toEqual([]);
});

test.each([...conflicts])('constructs refuse it: %s', (_, config) => {
  expect(refuses(config)).toBe(true);
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
  expect(workers.length).toBeGreaterThan(15);
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
