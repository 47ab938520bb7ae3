/** What cannot work is refused at synthesis, naming the prop and the fix. */
import { cpSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Bucket, type IBucket } from 'aws-cdk-lib/aws-s3';
import { Duration, Size, type Stack } from 'aws-cdk-lib/core';
import {
  BatchTransform,
  type BatchTransformProps,
  ModelData,
  RealtimeEndpoint,
  type RealtimeEndpointProps,
  ServingImage,
  SmokeTest,
  type SmokeTestProps,
  type TensorFlowModelProps,
  type VariantProps,
} from '../../lib/index.ts';
import { existingImage, testModel, testStack } from '../support/stacks.ts';

const bucketOf = (stack: Stack): IBucket => Bucket.fromBucketName(stack, 'Bucket', 'data');
const scratch = mkdtempSync(join(tmpdir(), 'bad-input-'));

describe('a model', () => {
  test.each<[string, () => Partial<TensorFlowModelProps>, RegExp]>([
    [
      'from a directory that is not there',
      () => ({ modelData: ModelData.fromDirectory('no/such/model') }),
      /model: .*no\/such\/model is not a directory\. Give the directory of a SavedModel/,
    ],
    [
      'from a directory without a SavedModel',
      () => ({ modelData: ModelData.fromDirectory(scratch) }),
      /model: .* holds no saved_model\.pb\. Export the model as a SavedModel/,
    ],
    [
      'from a directory of several models',
      () => {
        for (const name of ['cats', 'dogs']) {
          cpSync('test/fixtures/models/half_plus_two/2', join(scratch, 'zoo', name), {
            recursive: true,
          });
        }
        return { modelData: ModelData.fromDirectory(join(scratch, 'zoo')) };
      },
      /model: .*zoo holds 2 models: cats, dogs\. Give the directory of one, such as .*zoo\/cats, and each its own/,
    ],
    [
      'with a handler that is not there',
      () => ({
        modelData: ModelData.fromDirectory('test/fixtures/models/half_plus_two', {
          handler: 'no/inference.ts',
        }),
      }),
      /handler: .*no\/inference\.ts does not exist/,
    ],
    [
      'with a variable that the runtime refuses',
      () => ({ environment: { SAGEMAKER_TFS_MAX_BATCH_SIZE: 0 } }),
      /environment: SAGEMAKER_TFS_MAX_BATCH_SIZE is "0": it must be a whole number of at least 1/,
    ],
    [
      'with a bound on rows that is none',
      () => ({
        environment: { SAGEMAKER_TFS_ENABLE_BATCHING: true, SAGEMAKER_TFS_MAX_ROWS: 0.5 },
      }),
      /environment: SAGEMAKER_TFS_MAX_ROWS is "0\.5": it must be a whole number of at least 1/,
    ],
    [
      'with a bound on rows that nothing reads',
      () => ({ environment: { SAGEMAKER_TFS_MAX_ROWS: 5 } }),
      /environment: SAGEMAKER_TFS_MAX_ROWS is ignored: it is about the batches of SAGEMAKER_TFS_ENABLE_BATCHING/,
    ],
    [
      'with a misspelled variable',
      () => ({ handlerEnvironment: { SAGEMAKER_TFS_WAIT_TIME: '5' } }),
      /environment: .*Did you mean SAGEMAKER_TFS_WAIT_TIME_SECONDS/,
    ],
    [
      'in-process on an image with TensorFlow Serving',
      () => ({ environment: { SAGEMAKER_TFS_BACKEND: 'in-process' } }),
      /SAGEMAKER_TFS_BACKEND: the 'gpu' image does not hold TensorFlow's C library/,
    ],
    [
      'over gRPC in the in-process image',
      () => ({
        image: existingImage({ variant: 'in-process' }),
        environment: { SAGEMAKER_TFS_BACKEND: 'grpc' },
      }),
      /SAGEMAKER_TFS_BACKEND: 'grpc' needs TensorFlow Serving/,
    ],
    [
      'in bfloat16 on a GPU',
      () => ({ environment: { SAGEMAKER_TFS_MIXED_PRECISION: 'bfloat16' } }),
      /SAGEMAKER_TFS_MIXED_PRECISION: 'bfloat16' is computed by oneDNN, on CPUs only, .*Use 'float16'/,
    ],
    [
      'in float16 on CPUs',
      () => ({
        image: existingImage({ variant: 'cpu' }),
        environment: { SAGEMAKER_TFS_MIXED_PRECISION: 'float16' },
      }),
      /SAGEMAKER_TFS_MIXED_PRECISION: 'float16' is computed on GPUs only, .*Use 'bfloat16'/,
    ],
    [
      'in a precision that there is not',
      () => ({ environment: { SAGEMAKER_TFS_MIXED_PRECISION: 'int8' as 'off' } }),
      /SAGEMAKER_TFS_MIXED_PRECISION is "int8": it must be one of off, bfloat16, float16/,
    ],
    [
      'in bfloat16 without oneDNN',
      () => ({
        image: existingImage({ variant: 'cpu' }),
        environment: { SAGEMAKER_TFS_MIXED_PRECISION: 'bfloat16', SAGEMAKER_TFS_ONEDNN: false },
      }),
      /it is computed by oneDNN, which SAGEMAKER_TFS_ONEDNN turns off/,
    ],
    [
      'with security groups and no VPC',
      () => ({ securityGroups: [] }),
      /securityGroups: given without 'vpc'\. Give 'vpc' too/,
    ],
  ])('%s', (_, props, message) => {
    expect(() => testModel(testStack(), props())).toThrow(message);
  });

  test('of many models in the in-process image', () => {
    const stack = testStack();
    const modelData = ModelData.multiModel(bucketOf(stack), 'models/');
    const image = existingImage({ variant: 'in-process' });
    expect(() => testModel(stack, { image, modelData })).toThrow(
      /modelData: multi-model data needs an image that declares SageMaker's multi-models capability.*Use an image with variant 'cpu'/,
    );
  });

  test('of many models with the variables of one', () => {
    const stack = testStack();
    const modelData = ModelData.multiModel(bucketOf(stack), 'models/');
    const environment = { SAGEMAKER_TFS_PROCESSES: 4 };
    const image = existingImage({ variant: 'cpu' });
    expect(() => testModel(stack, { image, modelData, environment })).toThrow(
      /environment: .*SAGEMAKER_TFS_PROCESSES is "4"\. A multi-model endpoint has one process/,
    );
  });

  test('from an archive by another name, and a prefix without its slash', () => {
    const stack = testStack();
    const bucket = bucketOf(stack);
    expect(() => testModel(stack, { modelData: ModelData.fromArchive(bucket, 'a.zip') })).toThrow(
      /key 'a\.zip' does not end in \.tar\.gz/,
    );
    const modelData = ModelData.fromPrefix(bucket, 'a');
    expect(() => testModel(stack, { modelData }, 'Other')).toThrow(/Write 'a\/'/);
  });

  test('that would send spans out of isolation', () => {
    const stack = testStack();
    const environment = { SAGEMAKER_TFS_OTLP_ENDPOINT: 'http://collector:4318' };
    expect(() => testModel(stack, { environment })).toThrow(
      /environment\.SAGEMAKER_TFS_OTLP_ENDPOINT: no span reaches .* networkIsolation: false/,
    );
    testModel(stack, { environment, networkIsolation: false }, 'Open');
    const wrong = { SAGEMAKER_TFS_OTLP_ENDPOINT: 'collector' };
    expect(() =>
      testModel(stack, { environment: wrong, networkIsolation: false }, 'Wrong'),
    ).toThrow(/it must be an address such as/);
  });

  test('in an image that is not in ECR', () => {
    const stack = testStack();
    expect(() => testModel(stack, { image: ServingImage.fromUri('nginx:1') })).toThrow(
      /uri: 'nginx:1' is not an ECR address with a tag or digest\. Push the image to ECR/,
    );
  });
});

describe('a variant', () => {
  const cpu = { image: existingImage({ variant: 'cpu' }) };
  const open = { networkIsolation: false };
  const serverless = { memory: Size.gibibytes(2) };

  test.each<[string, Partial<VariantProps>, Partial<TensorFlowModelProps>, RegExp]>([
    [
      'of an unknown type',
      { instanceType: 'ml.g4dn.xlrge' },
      {},
      /variants\[0\]\.instanceType: 'ml\.g4dn\.xlrge' is not an instance type for SageMaker endpoints\. Did you mean ml\.g4dn\.xlarge/,
    ],
    ['of an EC2 type', { instanceType: 'g4dn.xlarge' }, {}, /Did you mean ml\.g4dn\.xlarge/],
    ['with a GPU image on CPUs', { instanceType: 'ml.m5.large' }, {}, /has no GPU/],
    ['on Inferentia', { instanceType: 'ml.inf2.xlarge' }, {}, /cannot use the AWS Inferentia/],
    ['on Graviton', { instanceType: 'ml.c7g.large' }, cpu, /is arm64 and the image is x86_64/],
    [
      'on a GPU that CUDA left behind',
      { instanceType: 'ml.p2.xlarge' },
      {},
      /CUDA 12\.5 no longer supports the K80/,
    ],
    [
      'with a host too old for the image',
      { inferenceAmiVersion: 'al2-ami-sagemaker-inference-gpu-2' },
      { image: existingImage({ variant: 'gpu', cuda: '13.0' }) },
      /gpu-2 \(driver 535\) cannot run CUDA 13\.0.*Leave the AMI version out/,
    ],
    [
      'with a volume beside local disks',
      { volumeSize: Size.gibibytes(100) },
      {},
      /volumeSize: ml\.g4dn\.xlarge has local disks/,
    ],
    ['without instances', { instanceCount: 0 }, {}, /instanceCount: 0 is out of range/],
    [
      'with a name that SageMaker refuses',
      { variantName: 'all_traffic' },
      {},
      /variantName: 'all_traffic' is not a variant name/,
    ],
    [
      'that starts in seconds',
      { containerStartupHealthCheckTimeout: Duration.seconds(30) },
      {},
      /containerStartupHealthCheckTimeout: 30 is out of range\. Give a number from 60 to 3600 seconds/,
    ],
    ...(
      [
        [{ when: 'every morning' }, /schedule\[0\]\.when: 'every morning' is no time/],
        [{ when: 'at(2026-02-30T08:00:00)' }, /schedule\[0\]\.when: .* is no time/],
        [{ when: 'cron(0 25 ? * * *)' }, /schedule\[0\]\.when: .*'25' is no hours/],
        [{ when: 'cron(0 8 * * * *)' }, /schedule\[0\]\.when: .*a day of month and a day of week/],
        [
          { when: 'cron(0 8 ? * * *)', timeZone: 'Europe/Atlantis' },
          /schedule\[0\]\.timeZone: 'Europe\/Atlantis' is no time zone/,
        ],
        [{ when: 'cron(0 8 ? * * *)', timeZone: '+02:00' }, /'\+02:00' is no time zone/],
        [
          { when: 'cron(0 8 ? * * *)', minInstances: 3 },
          /schedule\[0\]\.minInstances: at least 3 instances and at most 2/,
        ],
        [
          { when: 'cron(0 8 ? * * *)', minInstances: 0 },
          /schedule\[0\]\.minInstances: 0 is for asynchronous endpoints.*enabled: false/,
        ],
        [
          { when: 'cron(0 8 ? * * *)', maxInstances: 0 },
          /schedule\[0\]\.maxInstances: 0 is out of/,
        ],
      ] as const
    ).map(
      ([entry, message]): [
        string,
        Partial<VariantProps>,
        Partial<TensorFlowModelProps>,
        RegExp,
      ] => [
        `scaled by the clock with ${JSON.stringify(entry)}`,
        { scaling: { maxInstances: 2, target: { concurrentRequests: 4 }, schedule: [entry] } },
        {},
        message,
      ],
    ),
    [
      'scaled to zero without a queue',
      { scaling: { minInstances: 0, maxInstances: 2, target: { concurrentRequests: 4 } } },
      {},
      /scaling\.minInstances: 0 is for asynchronous endpoints/,
    ],
    [
      'scaled by two loads',
      {
        scaling: {
          maxInstances: 2,
          target: { concurrentRequests: 4, invocationsPerMinute: 100 },
        },
      },
      {},
      /scaling\.target: it has 'invocationsPerMinute' and 'concurrentRequests'\. Give one of /,
    ],
    [
      'scaled on a queue that is not there',
      { scaling: { maxInstances: 2, target: { backlog: 4 } } },
      {},
      /scaling\.target: 'backlog' needs a queue/,
    ],
    [
      'serverless with a GPU',
      { serverless },
      open,
      /serverless: serverless endpoints have no GPU\. Use a 'cpu' or 'in-process' image/,
    ],
    [
      'serverless with instances',
      { serverless, instanceType: 'ml.m5.large' },
      { ...open, ...cpu },
      /serverless: a serverless endpoint cannot have 'instanceType'/,
    ],
    ['serverless and isolated', { serverless }, cpu, /Give the model networkIsolation: false/],
    [
      'serverless with 7 GiB',
      { serverless: { memory: Size.gibibytes(7) } },
      { ...open, ...cpu },
      /serverless\.memory: 7168 MiB is not offered/,
    ],
  ])('%s', (_, variant, model, message) => {
    const stack = testStack();
    const variants = [{ model: testModel(stack, model), ...variant }];
    expect(() => new RealtimeEndpoint(stack, 'Endpoint', { variants })).toThrow(message);
  });
});

describe('an endpoint', () => {
  type Combination = Partial<Omit<RealtimeEndpointProps, 'variants'>> & {
    variants?: Partial<VariantProps>[];
  };
  const canary = { type: 'canary', percent: 10, wait: Duration.minutes(5) } as const;
  const serverless = { memory: Size.gibibytes(2) };

  test.each<[string, (stack: Stack) => Combination, RegExp]>([
    [
      'asynchronous with a shadow',
      (stack) => ({
        asyncInference: { outputBucket: bucketOf(stack) },
        shadowVariant: { model: testModel(stack, {}, 'Shadow'), variantName: 'shadow' },
      }),
      /shadowVariant: SageMaker copies only requests that it answers at once/,
    ],
    [
      'with a shadow beside two variants',
      (stack) => ({
        variants: [{ variantName: 'a' }, { variantName: 'b' }],
        shadowVariant: { model: testModel(stack, {}, 'Shadow'), variantName: 'shadow' },
      }),
      /shadowVariant: SageMaker takes one production variant beside a shadow/,
    ],
    ['without variants', () => ({ variants: [] }), /variants: 0 given\. Give 1 to 10/],
    [
      'with two variants of one name',
      () => ({ variants: [{ variantName: 'a' }, { variantName: 'a' }] }),
      /variants: two are named 'a'/,
    ],
    [
      'with variants without names',
      () => ({ variants: [{ variantName: 'a' }, {}] }),
      /variants\[1\]\.variantName: missing/,
    ],
    [
      'canary with one instance',
      () => ({ deployment: { traffic: canary } }),
      /deployment\.traffic: 'canary' moves part of a fleet, and a variant can have one instance\. Give every variant an instanceCount \(and scaling\.minInstances\) of 2/,
    ],
    [
      'canary of most of the fleet',
      () => ({
        variants: [{ instanceCount: 2 }],
        deployment: { traffic: { ...canary, percent: 60 } },
      }),
      /deployment\.traffic\.percent: 60 is out of range\. Give a number from 1 to 50/,
    ],
    [
      'rolling with a bake time',
      () => ({
        variants: [{ instanceCount: 2 }],
        deployment: { traffic: { ...canary, type: 'rolling' }, bakeTime: Duration.minutes(5) },
      }),
      /deployment\.bakeTime: given with 'rolling'/,
    ],
    [
      'serverless and asynchronous',
      (stack) => ({
        variants: [{ serverless }],
        asyncInference: { outputBucket: bucketOf(stack) },
      }),
      /a serverless endpoint cannot have 'asyncInference'/,
    ],
    [
      'with a key for disks of the hardware',
      (stack) => ({ volumeKey: new Key(stack, 'Key') }),
      /volumeKey: ml\.g4dn\.xlarge has local disks/,
    ],
  ])('%s', (_, combination, message) => {
    const stack = testStack();
    const model = testModel(stack);
    const { variants = [{}], ...props } = combination(stack);
    const given = variants.map((variant) => ({ model, ...variant }));
    expect(() => new RealtimeEndpoint(stack, 'Endpoint', { variants: given, ...props })).toThrow(
      message,
    );
  });
});

describe('a smoke test', () => {
  const json = join(scratch, 'request.json');
  writeFileSync(json, '{"instances": [1.0, 2.0]}');
  const [text, broken] = [join(scratch, 'golden.txt'), join(scratch, 'broken.json')];
  for (const file of [text, broken]) writeFileSync(file, '{"instances": [1.0,');
  const sample = { name: 'numbers', file: json, contentType: 'application/json' };

  test.each<[string, Partial<SmokeTestProps>, RegExp]>([
    [
      'of a file that is not there',
      { samples: [{ ...sample, file: 'no.json' }] },
      /samples\[0\]\.file: no\.json is not a file/,
    ],
    ['of one name twice', { samples: [sample, sample] }, /samples\[1\]\.name: 'numbers' is used/],
    [
      'with a path that is none',
      { samples: [{ ...sample, expect: [{ path: '$.a..b', equals: 1 }] }] },
      /samples\[0\]\.expect\[0\]\.path: '\$\.a\.\.b' is not a path/,
    ],
    [
      'two kinds of expectation in one',
      { samples: [{ ...sample, expect: [{ equals: [1], shape: [1] }] }] },
      /samples\[0\]\.expect\[0\]: it has 'equals' and 'shape'\. Give one of /,
    ],
    [
      'with a golden file that is none',
      { samples: [{ ...sample, expect: [{ golden: text }] }] },
      /samples\[0\]\.expect\[0\]\.golden: .* is not a \.npy file/,
    ],
    [
      'with golden JSON that is none',
      { samples: [{ ...sample, expect: [{ golden: broken }] }] },
      /samples\[0\]\.expect\[0\]\.golden: .*broken\.json is not JSON/,
    ],
    [
      'with attributes beyond ASCII',
      { samples: [{ ...sample, customAttributes: 'a=\u00fc' }] },
      /samples\[0\]\.customAttributes: SageMaker takes visible ASCII alone/,
    ],
    [
      'with a wish beyond ASCII',
      { samples: [{ ...sample, accept: '\u00fc/x' }] },
      /samples\[0\]\.accept: SageMaker takes visible ASCII alone/,
    ],
    ['without calls', { iterations: 0 }, /iterations: 0 is out of range/],
  ])('%s', (_, props, message) => {
    const stack = testStack();
    const endpoint = new RealtimeEndpoint(stack, 'Endpoint', {
      variants: [{ model: testModel(stack) }],
    });
    expect(() => new SmokeTest(stack, 'Smoke', { endpoint, samples: [sample], ...props })).toThrow(
      message,
    );
  });
});

describe('a batch transform', () => {
  test.each<[string, Partial<BatchTransformProps>, Partial<TensorFlowModelProps>, RegExp]>([
    [
      'on a type for endpoints only',
      { instanceType: 'ml.p5.48xlarge' },
      {},
      /instanceType: 'ml\.p5\.48xlarge' is not an instance type for batch transform jobs/,
    ],
    [
      'of CUDA 13',
      { instanceType: 'ml.g5.xlarge' },
      { image: existingImage({ variant: 'gpu', cuda: '13.0' }) },
      /no host image for transform jobs has a driver for CUDA 13\.0/,
    ],
    [
      'of records that nothing cuts',
      { batchStrategy: 'MultiRecord' },
      {},
      /batchStrategy: 'MultiRecord' joins records, and splitType 'None' makes none/,
    ],
    [
      'of lines whose header only the first request has',
      { splitType: 'Line', contentType: 'text/csv; header=present' },
      {},
      /splitType: 'Line' leaves the header in the first request of a file/,
    ],
    [
      'of records whose answers nothing parts',
      { splitType: 'Line', contentType: 'application/jsonlines', assembleWith: 'None' },
      {},
      /assembleWith: 'None' writes the JSON of an object's records with nothing between\. Give assembleWith 'Line'/,
    ],
    [
      'that joins pictures',
      { joinSource: 'Input' },
      {},
      /joinSource: SageMaker joins only JSON and CSV, by contentType\. Give joinSource 'None'/,
    ],
    [
      'of more in flight than SageMaker takes',
      { maxConcurrentTransforms: 64, maxPayloadInMB: 6 },
      {},
      /maxPayloadInMB: 64 requests at once of 6 MB are 384 MB, and SageMaker takes 100\. Give maxConcurrentTransforms 16/,
    ],
    [
      'of more in flight, by the default of the other setting',
      { maxPayloadInMB: 2 },
      {},
      /maxPayloadInMB: 64 requests at once of 2 MB are 128 MB/,
    ],
    [
      'that its own manifests start',
      { startOnManifest: '.json' },
      {},
      /startOnManifest: the output prefix 'x\/' lies below the input prefix 'x\/'.*for ever/,
    ],
    ['of 101 MB', { maxPayloadInMB: 101 }, {}, /maxPayloadInMB: 101 is out of range/],
    [
      'of empty shards',
      { sharding: { objectsPerShard: 0 } },
      {},
      /sharding\.objectsPerShard: 0 is out of range/,
    ],
    [
      'of an unpacked model',
      {},
      {
        modelData: ModelData.fromDirectory('test/fixtures/models/half_plus_two', {
          compression: 'none',
        }),
      },
      /model: batch transform takes only archives\. Give the model compression: 'gzip'/,
    ],
  ])('%s', (_, props, modelProps, message) => {
    const stack = testStack();
    const model = testModel(stack, modelProps);
    const place = { bucket: bucketOf(stack), prefix: 'x/' };
    expect(
      () => new BatchTransform(stack, 'Batch', { model, input: place, output: place, ...props }),
    ).toThrow(message);
  });
});
