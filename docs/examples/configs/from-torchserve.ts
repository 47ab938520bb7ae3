import { defineConfig } from '../../../lib/config.ts';

export default defineConfig({
  models: {
    digits: {
      model: 'examples/digits/model',
      preprocess: { scale: 1 / 255 },
      postprocess: { topK: { k: 5, labels: 'labels.txt' } },
      environment: {
        SAGEMAKER_TFS_ENABLE_BATCHING: true,
        SAGEMAKER_TFS_MAX_BATCH_SIZE: 8,
        SAGEMAKER_TFS_BATCH_TIMEOUT_MICROS: 50_000,
        SAGEMAKER_TFS_REQUEST_TIMEOUT_SECONDS: 60,
      },
      endpoint: { instanceType: 'ml.g5.xlarge' },
    },
  },
});
