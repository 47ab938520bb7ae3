/** Addresses in the web console. */
import { App, Stack } from 'aws-cdk-lib/core';
import { consoleUrl } from './console.ts';

const stackIn = (region?: string) =>
  new Stack(new App(), 'S', region === undefined ? {} : { env: { region } });

test.each(['eusc-de-east-1', 'us-iso-east-1'])('%s is in a partition that is refused', (region) => {
  expect(() => consoleUrl(stackIn(region))).toThrow(/env\.region.*partition 'aws-(eusc|iso)'/s);
});

test.each([undefined, 'eu-central-1', 'cn-north-1', 'us-gov-west-1', 'xx-new-1'])(
  '%s has a console',
  (region) => {
    expect(consoleUrl(stackIn(region))).toMatch(/^https:\/\//);
  },
);
