/** What `cdk deploy` deploys. `lib/config.ts` says what may stand here. */
import { defineConfig } from '@sagemaker-tfs/cdk';

export default defineConfig({
  models: {
    digits: {
      model: 'examples/digits/model',
      handler: 'examples/digits/inference.ts',
      endpoint: {
        instanceType: 'ml.g4dn.xlarge',
        smokeTest: {
          samples: [
            {
              name: 'seven',
              file: 'examples/digits/samples/00000-7.jpg',
              contentType: 'application/x-image',
              expect: [
                { path: '$.predictions[0].digit', equals: 7 },
                { path: '$.predictions[0].probabilities', topClass: 7 },
              ],
            },
            {
              name: 'six',
              file: 'examples/digits/samples/00100-6.png',
              contentType: 'image/png',
              expect: [{ path: '$.predictions[0].digit', equals: 6 }],
            },
          ],
        },
      },
      batch: { instanceType: 'ml.p3.2xlarge', instanceCount: 2 },
    },
  },
});
