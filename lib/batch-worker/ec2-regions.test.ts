/** Types that workers start by default are types of the region. */
import { Annotations, Match } from 'aws-cdk-lib/assertions';
import { App, Stack } from 'aws-cdk-lib/core';
import table from './ec2-regions.json';
import { checkTypeThere } from './ec2-regions.ts';
import { DEFAULT_TYPES, type DEFAULT_TYPES_ANYWHERE, typesOf } from './instance-types.ts';
import type { BatchWorkerProps } from './props.ts';

const REGIONS = Object.entries(table.regions);

function stackIn(region?: string): Stack {
  return new Stack(new App(), 'Test', { ...(region && { env: { region } }) });
}

function defaultsIn(region: string | undefined, kind: keyof typeof DEFAULT_TYPES_ANYWHERE) {
  const platform =
    kind === 'gpu'
      ? { accelerator: 'gpu', architecture: 'x86_64' }
      : { accelerator: 'cpu', architecture: kind };
  return typesOf(stackIn(region), { model: { image: { platform } } } as BatchWorkerProps);
}

test.each(REGIONS)('in %s the defaults are there', (region, families) => {
  const there = families.split(' ');
  for (const kind of ['x86_64', 'arm64', 'gpu'] as const) {
    const types = defaultsIn(region, kind);
    const lacks = DEFAULT_TYPES[kind].every((type) => !there.includes(type.split('.')[0] ?? ''));
    // A region without any such GPU: the warning says so.
    expect(lacks && kind !== 'gpu').toBe(false);
    if (lacks) continue;
    expect(types.filter((type) => !there.includes(type.split('.')[0] ?? ''))).toEqual([]);
    expect(types.length).toBeLessThanOrEqual(3);
  }
});

test.each([
  ['us-east-1', ['m6i.xlarge', 'm6a.xlarge', 'm7i.xlarge']],
  ['eu-north-1', ['m6i.xlarge', 'm7i.xlarge', 'm5.xlarge']],
  ['cn-north-1', ['m6i.xlarge', 'm5.xlarge']],
  ['of-tomorrow-1', ['m6i.xlarge', 'm7i.xlarge']],
  [undefined, ['m6i.xlarge', 'm7i.xlarge']],
])('in %s', (region, types) => {
  expect(defaultsIn(region, 'x86_64')).toEqual(types);
});

test.each([
  ['cn-north-1', 'm6a.xlarge', true],
  ['us-east-1', 'm6a.xlarge', false],
  ['of-tomorrow-1', 'm6a.xlarge', false],
  [undefined, 'm6a.xlarge', false],
])('in %s %s is a warning: %s', (region, type, isWarning) => {
  const stack = stackIn(region);
  checkTypeThere(stack, 'instanceTypes[0]', type);
  const found = Annotations.fromStack(stack).findWarning('*', Match.stringLikeRegexp(type));
  expect(found.length).toBe(isWarning ? 1 : 0);
});
