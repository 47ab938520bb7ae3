import { defineConfig } from '../../../lib/config.ts';

export default defineConfig({
  models: {
    digits: {
      model: 'examples/digits/model',
      endpoint: {
        instanceType: 'ml.c6i.xlarge',
        api: {
          auth: 'apiKey',
          throttle: { requestsPerSecond: 50, burst: 100 },
          corsOrigin: 'https://app.example.com',
        },
      },
    },
  },
});
