import { defineConfig } from '../../../lib/config.ts';

export default defineConfig({
  models: {
    shops: {
      multiModel: 's3://my-models/shops/',
      endpoint: {
        instanceType: 'ml.m5.xlarge',
        smokeTest: {
          samples: [
            {
              name: 'first-shop',
              file: 'examples/tiles/samples/00003-urban.jpg',
              contentType: 'image/jpeg',
              targetModel: 'berlin.tar.gz',
            },
          ],
        },
      },
    },
  },
});
