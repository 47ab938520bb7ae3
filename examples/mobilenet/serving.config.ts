/** What `npx cdk deploy -c config=examples/mobilenet/serving.config.ts` deploys; paths start at the root of the repository. */
import { defineConfig } from '@sagemaker-tfs/cdk';
import postprocess from './postprocess.json' with { type: 'json' };
import preprocess from './preprocess.json' with { type: 'json' };

export default defineConfig({
  name: 'mobilenet',
  models: {
    mobilenet: {
      model: 'examples/mobilenet/build/model',
      preprocess,
      postprocess,
      endpoint: {
        instanceType: 'ml.c6i.large',
        smokeTest: {
          samples: [
            {
              name: 'picture',
              file: 'examples/mobilenet/build/samples/picture.png',
              contentType: 'image/png',
            },
          ],
        },
      },
    },
  },
});
