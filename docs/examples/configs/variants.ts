import { defineConfig } from '../../../lib/config.ts';

export default defineConfig({
  models: {
    digits: {
      model: 'examples/digits/model',
      endpoint: {
        instanceType: 'ml.c6i.xlarge',
        variants: [
          { name: 'AllTraffic', weight: 9 },
          { name: 'next', weight: 1, archive: 's3://my-models/digits/2.tar.gz' },
        ],
      },
    },
    tiles: {
      model: 'examples/tiles/model',
      endpoint: {
        instanceType: 'ml.c6i.xlarge',
        dataCapturePercent: 10,
        shadow: {
          name: 'batched',
          weight: 0.5,
          environment: { SAGEMAKER_TFS_ENABLE_BATCHING: true },
        },
      },
    },
  },
});
