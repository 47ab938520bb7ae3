import type { Manifest } from '@sagemaker-tfs/manifest';
import { App, Stack } from 'aws-cdk-lib/core';
import { type RuntimeEnvironment, renderEnvironment } from './environment.ts';

const GRAPH: RuntimeEnvironment = {
  SAGEMAKER_TFS_XLA: true,
  SAGEMAKER_TFS_ONEDNN: true,
  SAGEMAKER_TFS_INTRA_OP_PARALLELISM: 2,
};

test.each([
  ['cpu', 'bfloat16'],
  ['in-process', 'bfloat16'],
  ['gpu', 'float16'],
  ['in-process-gpu', 'float16'],
  ['gpu', 'off'],
] as const)(
  'graph options of the %s image, in %s, as the container reads them',
  (variant, precision) => {
    const runtime = { ...GRAPH, SAGEMAKER_TFS_MIXED_PRECISION: precision };
    const rendered = renderEnvironment(new Stack(new App(), 'Stack'), variant, runtime, {
      TF_XLA_FLAGS: '--tf_xla_min_cluster_size=8',
    });
    expect(rendered).toMatchObject({
      SAGEMAKER_TFS_XLA: 'true',
      SAGEMAKER_TFS_ONEDNN: 'true',
      SAGEMAKER_TFS_INTRA_OP_PARALLELISM: '2',
      SAGEMAKER_TFS_MIXED_PRECISION: precision,
      TF_XLA_FLAGS: '--tf_xla_min_cluster_size=8',
    });
  },
);

const MODELS = [
  { name: 'cats', versions: ['1', '2'], signatures: {} },
  { name: 'dogs', versions: ['3'], signatures: {} },
];

test.each<[what: string, runtime: RuntimeEnvironment, message: RegExp]>([
  [
    'a default model that the archive lacks',
    { SAGEMAKER_TFS_DEFAULT_MODEL_NAME: 'birds' },
    /environment: SAGEMAKER_TFS_DEFAULT_MODEL_NAME is "birds"\. The models in \S+ are cats, dogs/,
  ],
  [
    'a label of a version that the default model lacks',
    { SAGEMAKER_TFS_VERSION_LABELS: 'stable=3' },
    /environment: .* assigns "stable" to version 3\. Model "cats" has 1, 2/,
  ],
  [
    'the port that SageMaker sets',
    { SAGEMAKER_BIND_TO_PORT: 9999 },
    /environment\.SAGEMAKER_BIND_TO_PORT: SageMaker decides it/,
  ],
  [
    'an address that SageMaker does not call',
    { SAGEMAKER_TFS_BIND_ADDRESS: '127.0.0.1' },
    /environment\.SAGEMAKER_TFS_BIND_ADDRESS: SageMaker decides it/,
  ],
  [
    'what refuses the host that SageMaker names',
    { SAGEMAKER_TFS_FOREIGN_PAGES: 'refuse' },
    /environment\.SAGEMAKER_TFS_FOREIGN_PAGES: SageMaker decides it/,
  ],
  [
    'the kind of endpoint that SageMaker sets',
    { SAGEMAKER_MULTI_MODEL: true },
    /environment\.SAGEMAKER_MULTI_MODEL: SageMaker decides it/,
  ],
])('%s is refused', (_, runtime, message) => {
  const manifest = { models: MODELS } as unknown as Manifest;
  const render = (variables: RuntimeEnvironment) =>
    renderEnvironment(new Stack(new App(), 'Stack'), 'cpu', variables, {}, { manifest });
  expect(() => render(runtime)).toThrow(message);
  const right = {
    SAGEMAKER_TFS_DEFAULT_MODEL_NAME: 'dogs',
    SAGEMAKER_TFS_VERSION_LABELS: 'stable=3',
  };
  expect(render(right)).toMatchObject(right);
});

test("the place of a model is its image's matter alone", () => {
  const environment = { SAGEMAKER_TFS_MODEL_DIR: '/opt/mine' };
  const render = (container: object) =>
    renderEnvironment(new Stack(new App(), 'Stack'), 'cpu', environment, {}, { container });
  expect(render({})).toMatchObject(environment);
  expect(() => render({ modelDataUrl: 's3://models/a.tar.gz' })).toThrow(
    /environment\.SAGEMAKER_TFS_MODEL_DIR: SageMaker decides it/,
  );
});
