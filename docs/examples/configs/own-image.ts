import { defineConfig } from '@sagemaker-tfs/cdk';

const account = '123456789012';

export default defineConfig({
  models: { digits: { baked: true, endpoint: { instanceType: 'ml.c6i.xlarge' } } },
  environments: [
    {
      name: 'prod',
      account,
      region: 'eu-west-1',
      image: { uri: `${account}.dkr.ecr.eu-west-1.amazonaws.com/digits:3` },
    },
  ],
});
