import { defineConfig } from '../../../lib/config.ts';

export default defineConfig({
  models: {
    digits: { model: 'examples/digits/model', endpoint: { async: true } },
  },
  encryptionKeyArn:
    'arn:aws:kms:eu-central-1:111111111111:key/11111111-2222-3333-4444-666666666666',
  formerEncryptionKeyArns: [
    'arn:aws:kms:eu-central-1:111111111111:key/11111111-2222-3333-4444-555555555555',
  ],
});
