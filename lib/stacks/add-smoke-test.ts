/** The smoke test of an endpoint, with its results as outputs. */
import { CfnOutput, type Stack } from 'aws-cdk-lib/core';
import type { ComponentEndpoint } from '../component-endpoint.ts';
import type { EndpointConfig } from '../config.ts';
import { definedOnly } from '../defined-only.ts';
import type { RealtimeEndpoint } from '../realtime-endpoint.ts';
import type { Expectation } from '../smoke-test/plan.ts';
import { SmokeTest } from '../smoke-test.ts';
import type { VpcAttachmentProps } from '../vpc-attachment.ts';

/** Adds it. */
export function addSmokeTest(
  stack: Stack,
  endpoint: RealtimeEndpoint | ComponentEndpoint,
  { smokeTest: { samples, iterations } }: Pick<EndpointConfig, 'smokeTest'>,
  network: VpcAttachmentProps,
): SmokeTest {
  const smokeTest = new SmokeTest(stack, 'SmokeTest', {
    endpoint,
    samples: samples.map(({ limits, expect, ...sample }) => ({
      ...definedOnly(sample),
      ...(limits && { limits: definedOnly(limits) }),
      ...(expect && { expect: expect.map((item) => definedOnly(item) as Expectation) }),
    })),
    ...(iterations !== undefined && { iterations }),
    ...network,
  });
  for (const name of samples.length === 0 ? [] : smokeTest.resultNames) {
    new CfnOutput(stack, `SmokeTest${name}`, { value: smokeTest.result(name) });
  }
  return smokeTest;
}
