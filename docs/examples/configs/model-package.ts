import { defineConfig } from '@sagemaker-tfs/cdk';

export default defineConfig({
  models: {
    digits: {
      modelPackage: {
        // Set by whoever deploys; without it nothing is deployed.
        arn: process.env.DIGITS_VERSION ?? '',
        archives: 's3://bucket/models/',
        image: '123456789012.dkr.ecr.us-east-1.amazonaws.com/serving:1',
      },
      endpoint: { instanceType: 'ml.c6i.xlarge' },
    },
  },
});
