import { defineConfig } from '@sagemaker-tfs/cdk';

export default defineConfig({
  models: {
    digits: {
      model: 'examples/digits/model',
      baked: true,
      endpoint: { instanceType: 'ml.c6i.xlarge' },
    },
  },
});
