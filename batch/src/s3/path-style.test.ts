import { forcePathStyle } from './path-style.ts';

test.each([
  [{}, false],
  [{ AWS_ENDPOINT_URL: 'http://stand-in' }, true],
  [{ AWS_ENDPOINT_URL_S3: 'http://stand-in' }, true],
])('%j: buckets in the path: %s', (environment, isForced) => {
  expect(forcePathStyle(environment)).toBe(isForced);
});
