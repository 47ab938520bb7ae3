import { Annotations, Match } from 'aws-cdk-lib/assertions';
import { Bucket, type IBucket } from 'aws-cdk-lib/aws-s3';
import { App, Stack } from 'aws-cdk-lib/core';
import { testContext } from '../../test/support/stacks.ts';
import { BatchTransform, RealtimeEndpoint, TensorFlowModel } from '../index.ts';
import { INSTANCE_FAMILIES } from './families.ts';
import { REGIONS, regionDoubt, regionFacts } from './regions.ts';

/** What is said of an endpoint's type, and of a job's types, in a region. */
function told(region: string, endpointType: string, fallbacks?: readonly string[]): Annotations {
  // Without the CDK's own validator, as the app is synthesized.
  const context = { ...testContext, 'aws:cdk:bundling-stacks': [] };
  const app = new App({ context, builtinCloudFormationValidation: false });
  const env = { account: '111111111111', region };
  const stack = new Stack(app, 'Test', { env });
  const cpu = TensorFlowModel.fromModelName(stack, 'Cpu', 'cpu');
  const attributes = { modelName: 'gpu', variant: 'gpu' } as const;
  const gpu = TensorFlowModel.fromModelAttributes(stack, 'Gpu', attributes);
  const model = /\.[gp]\d/.test(endpointType) ? gpu : cpu;
  new RealtimeEndpoint(stack, 'Endpoint', { variants: [{ model, instanceType: endpointType }] });
  const bucket: IBucket = Bucket.fromBucketName(stack, 'Data', 'data');
  new BatchTransform(stack, 'Batch', {
    model: gpu,
    input: { bucket, prefix: 'in/' },
    output: { bucket, prefix: 'out/' },
    ...(fallbacks && { fallbackInstanceTypes: fallbacks }),
  });
  return Annotations.fromStack(stack);
}

test('the table has the regions and types that it is asked for', () => {
  expect(REGIONS.length).toBeGreaterThan(30);
  expect(regionDoubt('us-east-1', 'endpoint', 'ml.g4dn.xlarge')).toBeUndefined();
  expect(regionDoubt('us-east-1', 'transform', 'ml.g5.2xlarge')).toBeUndefined();
  expect(regionDoubt('ap-southeast-6', 'transform', 'ml.m5.large')).toMatch(/Use another region$/);
  expect(regionFacts('us-east-1')).toMatchObject({ endpoints: true, inferenceComponents: true });
  expect(regionFacts('xx-north-1')).toBeUndefined();
});

test('every family that some region has is known, or is newer than the SDK', () => {
  const families = new Set(
    REGIONS.flatMap((region) => regionFacts(region)?.types.endpoint ?? []).map(
      (type) => type.split('.')[1] ?? '',
    ),
  );
  const known = [...families].filter((family) => family in INSTANCE_FAMILIES);
  expect(known.length / families.size).toBeGreaterThan(0.9);
});

test.each([
  ['eu-wets-1', "no region is named 'eu-wets-1'.*Did you mean eu-west-1\\?"],
  ['zz-nowhere-7', "no region is named 'zz-nowhere-7'"],
])('a region that nobody knows, %s, is a warning', (region, warning) => {
  told(region, 'ml.c6i.xlarge').hasWarning('/Test/Endpoint', Match.stringLikeRegexp(warning));
});

test('a region that the CDK knows and the table lacks is a remark', () => {
  const notes = told('us-iso-east-1', 'ml.c6i.xlarge');
  notes.hasInfo('/Test/Endpoint', Match.stringLikeRegexp('us-iso-east-1 has is not known here'));
  notes.hasNoWarning('/Test/Endpoint', Match.anyValue());
});

test('a type that the region lacks is a warning, with what there is instead', () => {
  told('eu-central-2', 'ml.g4dn.xlarge').hasWarning(
    '/Test/Endpoint',
    Match.stringLikeRegexp(
      'variants\\[0\\]\\.instanceType: .* has no ml\\.g4dn\\.xlarge for endpoints in eu-central-2.*It has ml\\.g6\\.xlarge',
    ),
  );
  const fine = told('us-east-1', 'ml.c6i.xlarge');
  fine.hasNoWarning('/Test/Endpoint', Match.anyValue());
});

test('P3 with other types to continue with is a remark, and alone a warning', () => {
  const text = Match.stringLikeRegexp('has no ml\\.p3\\.2xlarge for transform jobs in us-east-1');
  const usual = told('us-east-1', 'ml.c6i.xlarge');
  usual.hasInfo('/Test/Batch', text);
  usual.hasNoWarning('/Test/Batch', text);
  told('us-east-1', 'ml.c6i.xlarge', []).hasWarning('/Test/Batch', text);
});

test('a region without endpoints is a warning', () => {
  told('me-central-1', 'ml.c6i.xlarge').hasWarning(
    '/Test/Endpoint',
    Match.stringLikeRegexp('no AWS::SageMaker::EndpointConfig in me-central-1'),
  );
});
