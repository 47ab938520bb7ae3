import { defineConfig } from '../../../lib/config.ts';

export default defineConfig({
  models: {
    digits: {
      model: 'examples/digits/model',
      endpoint: {
        instanceType: 'ml.c6i.xlarge',
        api: {
          auth: 'jwt',
          jwt: {
            issuer: 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_EXAMPLE',
            audience: ['1example23456789'],
            scopes: ['digits/predict'],
          },
          domain: {
            name: 'models.example.com',
            certificateArn: 'arn:aws:acm:eu-central-1:111122223333:certificate/1234',
            hostedZone: { id: 'Z0123456789EXAMPLE', name: 'example.com' },
          },
        },
      },
    },
  },
});
