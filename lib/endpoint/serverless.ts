/** Serverless variants: no instances to choose, none to pay for while idle, no GPU. */

import type { CfnEndpointConfig } from 'aws-cdk-lib/aws-sagemaker';
import type { Size } from 'aws-cdk-lib/core';
import { SERVERLESS_CONCURRENCY } from '../rules/serverless.ts';
import { checkInteger, invalidProp, type Where } from '../validation.ts';

/** Props of a serverless variant. */
export interface ServerlessProps {
  /** 1 to 6 GiB in steps of 1 GiB; CPUs grow with it. */
  readonly memory: Size;
  /**
   * Requests served at once, 1-200; more get a throttling error.
   * @default 5
   */
  readonly maxConcurrency?: number;
  /**
   * Workers kept warm, at most `maxConcurrency`; paid for while they wait.
   * @default - none: the first request after a pause waits for a start
   */
  readonly provisionedConcurrency?: number;
}

const MEMORY_STEP_MIB = 1024;
const MAX_MEMORY_STEPS = 6;

/** SageMaker's form of the props. @throws naming the prop that is out of range */
export function renderServerless(
  where: Where,
  prop: string,
  props: ServerlessProps,
): CfnEndpointConfig.ServerlessConfigProperty {
  const memorySizeInMb = props.memory.toMebibytes();
  const steps = memorySizeInMb / MEMORY_STEP_MIB;
  if (!Number.isInteger(steps) || steps < 1 || steps > MAX_MEMORY_STEPS) {
    invalidProp(
      where,
      `${prop}.memory`,
      `${memorySizeInMb} MiB is not offered`,
      `Give Size.gibibytes(1) to Size.gibibytes(${MAX_MEMORY_STEPS}), in whole GiB`,
    );
  }
  const maxConcurrency = props.maxConcurrency ?? SERVERLESS_CONCURRENCY.default;
  checkInteger(where, `${prop}.maxConcurrency`, maxConcurrency, 1, SERVERLESS_CONCURRENCY.max);
  const { provisionedConcurrency } = props;
  checkInteger(where, `${prop}.provisionedConcurrency`, provisionedConcurrency, 1, maxConcurrency);
  return {
    memorySizeInMb,
    maxConcurrency,
    ...(provisionedConcurrency !== undefined && { provisionedConcurrency }),
  };
}
