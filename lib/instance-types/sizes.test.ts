import { readFileSync } from 'node:fs';
import { vcpusOf } from '@sagemaker-tfs/batch/instance-types';
import { mayHold, sizeOf } from './sizes.ts';

/** Types of EC2 with vCPUs and GiB, as DescribeInstanceTypes lists them. */
const EC2: Readonly<Record<string, Readonly<Record<string, readonly [number, number]>>>> =
  JSON.parse(readFileSync(new URL('../../test/fixtures/ec2-sizes.json', import.meta.url), 'utf8'));
const TYPES = Object.entries(EC2).flatMap(([family, sizes]) =>
  Object.entries(sizes).map(([size, [vcpus, gib]]) => ({ type: `${family}.${size}`, vcpus, gib })),
);

test('the vCPUs of a name are those that the type has', () => {
  const wrong = TYPES.filter(({ type, vcpus }) => (vcpusOf(type) ?? vcpus) !== vcpus);
  expect(wrong).toEqual([]);
});

test.each(['', 'ml.'])('no type is refused for what it holds (%s)', (prefix) => {
  const refused = TYPES.filter(
    ({ type, vcpus, gib }) => !mayHold(prefix + type, vcpus, gib * 0.99),
  );
  expect(refused).toEqual([]);
});

test('a type whose size is certain holds no more than it has', () => {
  const certain = TYPES.filter(({ type }) => !mayHold(type, Number.MAX_SAFE_INTEGER, 0));
  expect(certain.length).toBeGreaterThan(600);
  expect(certain.filter(({ type, vcpus }) => mayHold(type, vcpus + 1, 0))).toEqual([]);
  expect(certain.filter(({ type, gib }) => mayHold(type, 0, gib))).toEqual([]);
});

test('a message names what is certain', () => {
  expect(sizeOf('ml.g5.2xlarge')).toBe('ml.g5.2xlarge has 8 vCPUs and 32 GiB');
  expect(sizeOf('c5n.xlarge')).toBe('c5n.xlarge');
});
