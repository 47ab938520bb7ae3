import { defineConfig } from '@sagemaker-tfs/cdk';

export default defineConfig({
  name: 'halves',
  models: {
    model: {
      model: 'test/fixtures/models/half_plus_two',
      endpoint: { instanceType: 'ml.c6i.xlarge' },
    },
  },
});
