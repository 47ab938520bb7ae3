import { defineConfig } from '../../../lib/config.ts';

export default defineConfig({
  models: {
    tiles: {
      model: 'examples/tiles/model',
      batchWorker: {
        instanceTypes: ['g4dn.xlarge', 'g5.xlarge', 'g6.xlarge'],
        workers: 20,
        email: 'ops@example.com',
      },
    },
  },
  vpc: {
    vpcId: 'vpc-0123456789abcdef0',
    availabilityZones: ['us-east-1a', 'us-east-1b'],
    subnetIds: ['subnet-0123456789abcdef0', 'subnet-0123456789abcdef1'],
    securityGroupIds: ['sg-0123456789abcdef0'],
  },
});
