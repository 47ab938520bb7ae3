import { defineConfig } from '../../../lib/config.ts';

export default defineConfig({
  models: {
    digits: {
      model: 'examples/digits/model',
      preprocess: { scale: 1 / 255 },
      postprocess: { topK: { k: 1 } },
      batch: {
        instanceType: 'ml.c6i.xlarge',
        instanceCount: 2,
        sharding: { objectsPerShard: 25_000, maxConcurrentJobs: 2 },
        budgetInstanceHours: 4,
        email: 'team@example.com',
      },
    },
  },
});
