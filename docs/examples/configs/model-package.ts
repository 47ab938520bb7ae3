import { defineConfig } from '@sagemaker-tfs/cdk';

const { MODEL_PACKAGE_ARN = 'arn:aws:sagemaker:us-east-1:123456789012:model-package/digits/1' } =
  process.env;

export default defineConfig({
  models: {
    digits: {
      modelPackage: {
        arn: MODEL_PACKAGE_ARN,
        archives: 's3://bucket/models/',
        image: '123456789012.dkr.ecr.us-east-1.amazonaws.com/serving:1',
      },
      endpoint: { instanceType: 'ml.c6i.xlarge' },
    },
  },
});
