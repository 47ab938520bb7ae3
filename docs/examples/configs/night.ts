import { defineConfig } from '../../../lib/config.ts';

export default defineConfig({
  models: {
    digits: {
      model: 'examples/digits/model',
      endpoint: {
        instanceType: 'ml.c6i.xlarge',
        scaling: {
          minInstances: 1,
          maxInstances: 8,
          target: { concurrentRequests: 4 },
          schedule: [
            { when: 'cron(45 6 ? * MON-FRI *)', timeZone: 'Europe/Berlin', minInstances: 4 },
            { when: 'cron(0 20 ? * * *)', timeZone: 'Europe/Berlin', maxInstances: 2 },
          ],
        },
      },
    },
  },
});
