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
