import { defineConfig } from '../../../lib/config.ts';

export default defineConfig({
  models: {
    vision: {
      model: 'examples/digits/model',
      endpoint: {
        instanceType: 'ml.c6i.2xlarge',
        managedInstances: { maxInstances: 3 },
        deployment: {
          traffic: { type: 'rolling', percent: 25, waitSeconds: 120 },
          serverErrorsPerMinute: 5,
        },
        components: [
          { name: 'digits', cpus: 2, memoryMiB: 2048 },
          {
            name: 'tiles',
            model: 'examples/tiles/model',
            cpus: 1,
            scaling: { minCopies: 0, maxCopies: 4, target: { concurrentRequests: 8 } },
          },
        ],
        smokeTest: {
          samples: [
            {
              name: 'a-seven',
              file: 'examples/digits/samples/00000-7.jpg',
              contentType: 'image/jpeg',
              component: 'digits',
            },
          ],
        },
      },
    },
  },
});
