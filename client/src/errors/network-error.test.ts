import { networkError } from './network-error.ts';
import { serviceError } from './service-error.ts';

/** As Node throws it, below the error of fetch or of the AWS SDK. */
const notFound = (hostname: string) =>
  Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: 'ENOTFOUND', hostname });

test('an endpoint whose host is not known names the host, which has the region in it', () => {
  const host = 'runtime.sagemaker.eu-centrl-1.amazonaws.com';
  expect(serviceError(notFound(host), 'digits')).toMatchObject({
    code: 'HOST_NOT_FOUND',
    message: `the host ${host} of endpoint digits is not known. Check the region and the network.`,
  });
});

test('an address names its host already', () => {
  const cause = new TypeError('fetch failed', { cause: notFound('nowhere.invalid') });
  expect(networkError(cause, 'http://nowhere.invalid:8080')).toMatchObject({
    code: 'HOST_NOT_FOUND',
    message:
      'the host of http://nowhere.invalid:8080 is not known. Check its name and the network.',
  });
});

test('no credentials in a browser, where the SDK has no provider to name, are no fault of the network', () => {
  expect(serviceError(new Error('Credential is missing'), 'digits')).toMatchObject({
    code: 'NO_CREDENTIALS',
    message: expect.stringContaining('no AWS credentials to call endpoint digits') as string,
  });
});
