import { App, Duration, Stack } from 'aws-cdk-lib/core';
import { updateTimeoutOf } from './updates.ts';

test.each([
  ['cn-north-1', 360],
  ['eu-central-1', 7200],
])('in %s running workers have %d minutes at most', (region, minutes) => {
  const stack = new Stack(new App(), 'Test', { env: { region } });
  expect(updateTimeoutOf(stack, Duration.days(5)).toMinutes()).toBe(minutes);
});
