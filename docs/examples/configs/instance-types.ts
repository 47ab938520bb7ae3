import { defineConfig } from '../../../lib/config.ts';

export default defineConfig({
  models: {
    digits: {
      model: 'examples/digits/model',
      endpoint: {
        instanceTypes: ['ml.g6.xlarge', 'ml.g5.xlarge', 'ml.g4dn.xlarge'],
        provisioningTimeoutSeconds: 900,
      },
    },
  },
});
