import { defineConfig } from '../../../lib/config.ts';

export default defineConfig({
  models: {
    things: {
      model: 'examples/detection/model',
      preprocess: { resize: 'contain' },
      postprocess: {
        boxes: { threshold: 0.5, limit: 20, labels: 'examples/detection/labels.txt' },
      },
      endpoint: {
        instanceType: 'ml.c6i.xlarge',
        smokeTest: {
          samples: [
            {
              name: 'things',
              file: 'examples/detection/samples/things.jpg',
              contentType: 'image/jpeg',
              expect: [{ path: '$.predictions[0][0].label', equals: 'red' }],
            },
          ],
        },
      },
    },
  },
});
