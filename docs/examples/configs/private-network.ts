import { defineConfig } from '../../../lib/config.ts';

export default defineConfig({
  models: {
    digits: {
      model: 'examples/digits/model',
      handler: 'examples/digits/inference.ts',
      endpoint: { instanceType: 'ml.c6i.large' },
    },
  },
  environments: [
    { name: 'test', account: '222222222222', region: 'eu-central-1' },
    {
      name: 'prod',
      account: '111111111111',
      region: 'eu-central-1',
      vpc: {
        vpcId: 'vpc-0123456789abcdef0',
        availabilityZones: ['eu-central-1a', 'eu-central-1b'],
        subnetIds: ['subnet-0123456789abcdef0', 'subnet-0123456789abcdef1'],
        securityGroupIds: ['sg-0123456789abcdef0'],
      },
    },
  ],
  tags: { team: 'vision' },
});
