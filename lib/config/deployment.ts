/** How updates of an endpoint are made. */
import * as z from 'zod';
import { DEFAULT_SERVER_ERRORS } from '../endpoint/deployment.ts';
import { BAKE_SECONDS, STEP_WAIT_SECONDS, TRAFFIC_SHARES } from '../rules/bounds.ts';
import { DEFAULT_BAKE_SECONDS } from '../rules/deployment.ts';
import { byDefault, count, positive, wholeIn } from './fields.ts';

const SHARES = Object.entries(TRAFFIC_SHARES)
  .map(([type, [least, most]]) => `${least} to ${most} of \`${type}\``)
  .join(', ');

const kind = <Type extends string>(type: Type) =>
  z
    .literal(type)
    .describe('In one step, in two, in equal steps, or in place without a second fleet.');

const stepwise = <Type extends keyof typeof TRAFFIC_SHARES>(type: Type) =>
  z.strictObject({
    type: kind(type),
    percent: wholeIn(TRAFFIC_SHARES[type]).describe(
      `Share of the instances in the first or each step: ${SHARES}.`,
    ),
    waitSeconds: wholeIn(STEP_WAIT_SECONDS).describe('Wait after a step.'),
  });

/** Traffic and rollback. */
export const deployment = z.strictObject({
  traffic: z
    .discriminatedUnion('type', [
      z.strictObject({ type: kind('all-at-once') }),
      stepwise('canary'),
      stepwise('linear'),
      stepwise('rolling'),
    ])
    .optional()
    .describe('How an update reaches the instances. Default: `all-at-once`.'),
  bakeSeconds: wholeIn(BAKE_SECONDS)
    .optional()
    .describe(`How long alarms can still roll an update back. ${byDefault(DEFAULT_BAKE_SECONDS)}`),
  serverErrorsPerMinute: count
    .optional()
    .describe(
      `5xx answers in a minute that roll an update back. ${byDefault(DEFAULT_SERVER_ERRORS)}`,
    ),
  modelLatencyP90Ms: positive
    .optional()
    .describe('90th percentile of the model latency that rolls an update back. Default: none.'),
});
