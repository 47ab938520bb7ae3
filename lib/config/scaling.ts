/** Autoscaling of a variant. */
import * as z from 'zod';
import { count, positive } from './fields.ts';

/** How many instances there are, and when. */
export const scaling = z.strictObject({
  minInstances: z
    .int()
    .min(0)
    .optional()
    .describe('0 for asynchronous endpoints only. Default: 1.'),
  maxInstances: count.describe('Greatest number of instances.'),
  schedule: z
    .array(
      z.strictObject({
        when: z
          .string()
          .describe(
            '`cron(0 8 ? * MON-FRI *)` with six fields, or once: `at(2026-12-24T18:00:00)`.',
          ),
        timeZone: z
          .string()
          .optional()
          .describe("IANA's name, such as `Europe/Berlin`. Default: `UTC`."),
        minInstances: z
          .int()
          .min(0)
          .optional()
          .describe("Fewest instances from then on. Default: the scaling's."),
        maxInstances: count
          .optional()
          .describe("Most instances from then on. Default: the scaling's."),
      }),
    )
    .min(1)
    .max(200)
    .optional()
    .describe(
      'Other limits by the clock: [Schedules](updating-and-rolling-back.md#fewer-instances-at-night-or-none). Default: the same at any time.',
    ),
  target: z
    .union([
      z.strictObject({
        invocationsPerMinute: positive.describe('Requests a minute to each instance.'),
      }),
      z.strictObject({
        concurrentRequests: positive.describe('Requests at once to each instance.'),
      }),
      z.strictObject({
        backlog: positive.describe(
          'Waiting requests for each instance, of asynchronous endpoints.',
        ),
      }),
    ])
    .describe('What autoscaling keeps constant; one of these.'),
  registered: z
    .boolean()
    .optional()
    .describe(
      '`false` stops autoscaling and keeps the number of instances: the first step of [another instance type](updating-and-rolling-back.md#another-instance-type-of-a-scaled-endpoint) and of [taking a variant away](updating-and-rolling-back.md#taking-a-scaled-variant-away). Default: `true`.',
    ),
});
