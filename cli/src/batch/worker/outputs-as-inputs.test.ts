import { outputsAsInputs } from './outputs-as-inputs.ts';

test('an output below the input is named, unless the inputs have an ending of their own', () => {
  expect(outputsAsInputs('s3://b/in/', 's3://b/in/packed/', undefined)).toContain('lies below');
  expect(outputsAsInputs('s3://b/in', 's3://b/in-packed/', undefined)).toContain('lies below');
  expect(outputsAsInputs('s3://b/in/', 's3://b/packed/', undefined)).toBeUndefined();
  expect(outputsAsInputs('s3://b/in/', 's3://b/in/packed/', '.jpg')).toBeUndefined();
  expect(outputsAsInputs('s3://b/in/a.manifest', 's3://b/in/out/', undefined)).toBeUndefined();
});
