import { refuseOutputsAmongInputs } from './check-places.ts';

test.each<[input: string, output: string, isRefused: boolean]>([
  ['s3://b/in/', 's3://b/in/', true],
  ['s3://b/in/', 's3://b/in', true],
  ['s3://b/in/', 's3://b/in/out/', true],
  ['s3://b/in', 's3://b/in-out/', true],
  ['s3://b/in/', 's3://b/input/', false],
  ['s3://b/a/in/', 's3://b/a/', false],
  ['s3://b/in/', 's3://other/in/', false],
])('the inputs of %s with outputs at %s', (inputUri, outputUri, isRefused) => {
  const check = () => refuseOutputsAmongInputs({ inputUri, outputUri, dataType: 'S3Prefix' });
  if (isRefused) expect(check).toThrow(/lies in --input-uri/);
  else expect(check).not.toThrow();
  // Others than those with the ending are no inputs of a worker.
  expect(() =>
    refuseOutputsAmongInputs({ inputUri, outputUri, dataType: 'S3Prefix', keySuffix: '.jpg' }),
  ).not.toThrow();
});
