import { defineConfig } from '../../../lib/config.ts';

export default defineConfig({
  models: {
    digits: {
      model: 'model_repository/digits/1/model.savedmodel',
      handler: 'kserve-v2.ts',
      environment: {
        SAGEMAKER_TFS_ENABLE_BATCHING: true,
        SAGEMAKER_TFS_MAX_BATCH_SIZE: 16,
        SAGEMAKER_TFS_ALLOWED_BATCH_SIZES: '4,16',
        SAGEMAKER_TFS_BATCH_TIMEOUT_MICROS: 2000,
        SAGEMAKER_TFS_INSTANCE_COUNT: 2,
      },
      endpoint: { instanceType: 'ml.g5.xlarge' },
    },
  },
});
