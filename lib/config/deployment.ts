/** How updates of an endpoint are made. */
import * as z from 'zod';
import { DEFAULT_SERVER_ERRORS } from '../endpoint/deployment.ts';
import { DEFAULT_BAKE_SECONDS } from '../rules/deployment.ts';
import { byDefault, count, positive } from './fields.ts';

const shift = {
  percent: z.int().min(1).max(50).describe('Share of the instances in the first or each step.'),
  waitSeconds: z.int().min(0).max(3600).describe('Wait after a step.'),
};

const kind = <Type extends string>(type: Type) =>
  z
    .literal(type)
    .describe('In one step, in two, in equal steps, or in place without a second fleet.');

/** Traffic and rollback. */
export const deployment = z.strictObject({
  traffic: z
    .discriminatedUnion('type', [
      z.strictObject({ type: kind('all-at-once') }),
      z.strictObject({ type: kind('canary'), ...shift }),
      z.strictObject({ type: kind('linear'), ...shift }),
      z.strictObject({ type: kind('rolling'), ...shift }),
    ])
    .optional()
    .describe('How an update reaches the instances. Default: `all-at-once`.'),
  bakeSeconds: z
    .int()
    .min(0)
    .max(3600)
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
