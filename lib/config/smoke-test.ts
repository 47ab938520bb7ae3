/** The smoke test of an endpoint. */
import * as z from 'zod';
import { DEFAULT_ITERATIONS } from '../smoke-test/plan.ts';
import { fraction, positive } from './fields.ts';

const located = {
  path: z
    .string()
    .startsWith('$')
    .optional()
    .describe('JSON path into the answer, such as `$.predictions[0].digit`. Default: `$`.'),
};
const tolerance = fraction
  .optional()
  .describe('Largest difference of a number. Default: 0; 0.05 for `score`.');

const expectation = z.union([
  z.strictObject({
    ...located,
    equals: z.unknown().describe('The value at `path`.'),
    tolerance,
  }),
  z.strictObject({
    ...located,
    topClass: z.int().min(0).describe('Index of the highest of the numbers at `path`.'),
    score: z.number().optional().describe('The number at `topClass`. Default: not checked.'),
    tolerance,
  }),
  z.strictObject({
    ...located,
    shape: z.array(z.int().min(-1)).describe('Dimensions of the value at `path`; -1 is any size.'),
    dtype: z.string().min(1).optional().describe('Its dtype. Default: not checked.'),
  }),
  z.strictObject({
    ...located,
    golden: z
      .string()
      .min(1)
      .describe('An `.npy` or `.json` file with what is expected at `path`.'),
    absolute: fraction.optional().describe('Absolute tolerance. Default: 0.00001.'),
    relative: fraction.optional().describe('Relative tolerance. Default: 0.001.'),
  }),
]);

const milliseconds = positive.optional();

const sample = z.strictObject({
  name: z
    .string()
    .regex(/^[\w .-]{1,64}$/, 'use letters, digits, spaces and . _ -')
    .describe('Names the sample in messages and metrics.'),
  file: z.string().min(1).describe("The request's body."),
  contentType: z
    .string()
    .regex(/^[^/ ]+\/[^/]+$/, 'give a media type, such as application/json')
    .describe('Media type of the body.'),
  accept: z.string().optional().describe('Media type of the answer. Default: the model chooses.'),
  customAttributes: z
    .string()
    .max(900)
    .optional()
    .describe('Custom attributes of the request. Default: none.'),
  targetModel: z.string().optional().describe('The model, of a multi-model endpoint.'),
  component: z
    .string()
    .optional()
    .describe(
      'Name of the one component that is asked. Default: each, of an endpoint of components.',
    ),
  expect: z
    .array(expectation)
    .optional()
    .describe('What must hold of every answer. Default: any answer passes.'),
  limits: z
    .strictObject({
      meanMs: milliseconds.describe('Mean latency.'),
      p50Ms: milliseconds.describe('Median latency.'),
      p90Ms: milliseconds.describe('90th percentile.'),
      p95Ms: milliseconds.describe('95th percentile.'),
      coldMs: milliseconds.describe('The first call.'),
    })
    .optional()
    .describe('Longest latencies, in milliseconds, seen from Lambda. Default: none.'),
});

/** Samples to send after every deployment. */
export const smokeTest = z
  .strictObject({
    samples: z.array(sample).describe('Requests to send.'),
    iterations: z
      .int()
      .min(1)
      .max(1000)
      .optional()
      .describe(
        `Calls of each sample over each transport. Default: ${DEFAULT_ITERATIONS}; 1 for asynchronous endpoints.`,
      ),
  })
  .default({ samples: [] })
  .describe(
    '[Check after every deployment](smoke-test.md); without samples only the state of the endpoint.',
  );
