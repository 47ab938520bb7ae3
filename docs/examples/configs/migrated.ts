import { defineConfig } from '../../../lib/config.ts';

export default defineConfig({
  models: {
    digits: {
      model: 'demo-out/old',
      handler: 'examples/migration/inference.ts',
      endpoint: {
        smokeTest: {
          samples: [
            {
              name: 'seven',
              file: 'examples/digits/samples/00000-7.jpg',
              contentType: 'application/x-image',
              expect: [{ path: '$.digit', equals: 7 }],
            },
          ],
        },
      },
    },
  },
});
