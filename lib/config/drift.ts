/** The part of `serving.config.ts` about drift. */
import * as z from 'zod';
import { DRIFT_CAPTURES, DRIFT_HOURS } from '../rules/bounds.ts';
import { wholeIn } from './fields.ts';

/** A scheduled look at an endpoint's captures. */
export const drift = z.strictObject({
  baseline: z.string().min(1).describe('File that `captures baseline` wrote.'),
  variants: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe(
      'Names of the variants whose captures it looks at. Default: all that answer callers, so not a shadow.',
    ),
  schedule: z
    .string()
    .regex(/^(cron|rate)\(.+\)$/, 'write cron(...) or rate(...)')
    .optional()
    .describe('When: `cron(...)` or `rate(...)` of EventBridge. Default: `rate(1 day)`.'),
  hours: wholeIn(DRIFT_HOURS).optional().describe('Hours back that it looks. Default: 24.'),
  maxCaptures: wholeIn(DRIFT_CAPTURES)
    .optional()
    .describe('Captures that it reads at most. Default: 5000.'),
  threshold: z
    .number()
    .positive()
    .optional()
    .describe('Population stability index that counts as drift. Default: 0.2.'),
});
