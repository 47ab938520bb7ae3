import { defineConfig } from '../../../lib/config.ts';

export default defineConfig({
  models: {
    digits: {
      model: 'examples/digits/model',
      endpoint: {
        dataCapturePercent: 10,
        alarmEmail: 'you@example.com',
        drift: { baseline: 'baseline.json', schedule: 'rate(1 day)' },
      },
    },
  },
});
