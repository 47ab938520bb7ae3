import { defineConfig } from '@sagemaker-tfs/cdk';

export default defineConfig({
  registry: { groups: ['digits'], readers: ['222222222222'] },
  redeploy: [{ approvedIn: 'digits', project: 'deploy-digits' }],
  models: { digits: { model: 'model', endpoint: {} } },
});
