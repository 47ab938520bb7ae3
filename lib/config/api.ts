/** API Gateway in front of an endpoint. */
import * as z from 'zod';
import { DEFAULT_TIMEOUT_SECONDS } from '../endpoint-api/check-props.ts';
import { API_TIMEOUT_SECONDS } from '../rules/bounds.ts';
import { byDefault, count, positive, wholeIn } from './fields.ts';

/** Who may call, and how. */
export const api = z.strictObject({
  auth: z
    .enum(['apiKey', 'jwt', 'iam'])
    .describe(
      'How callers show who they are: a key in `x-api-key`, a token in `Authorization: Bearer`, or a signature with AWS keys.',
    ),
  jwt: z
    .strictObject({
      issuer: z
        .url({ protocol: /^https$/, error: 'write the address of the claim iss, https://...' })
        .describe('Issuer of the tokens, as their claim `iss` has it.'),
      audience: z
        .array(z.string().min(1))
        .min(1)
        .describe('The claim `aud`, or `client_id` of tokens without it, must name one of these.'),
      scopes: z
        .array(z.string().min(1))
        .min(1)
        .optional()
        .describe('The claim `scope` or `scp` must name one of these. Default: any.'),
    })
    .optional()
    .describe("Which tokens are taken, with `auth: 'jwt'`."),
  throttle: z
    .strictObject({
      requestsPerSecond: positive.describe('Calls a second, on average.'),
      burst: count.describe('Calls at once.'),
    })
    .optional()
    .describe("The most calls; others get 429. Default: the account's limits."),
  corsOrigin: z
    .string()
    .regex(/^(\*|https?:\/\/[^/\s]+)$/, 'write https://app.example.com, without a path, or *')
    .optional()
    .describe('Origin whose pages may call from a browser, or `*`. Default: none.'),
  domain: z
    .strictObject({
      name: z
        .string()
        .regex(/^(?=.{1,253}$)([a-z0-9-]{1,63}\.)+[a-z]{2,63}$/, 'write models.example.com')
        .describe('Name of your own. The API then has no other.'),
      certificateArn: z
        .string()
        .regex(
          /^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/,
          'write arn:aws:acm:REGION:ACCOUNT:certificate/ID',
        )
        .describe("Certificate for the name, in the API's region."),
      hostedZone: z
        .strictObject({
          id: z.string().min(1).describe('Its id.'),
          name: z.string().min(1).describe('Its name, such as `example.com`.'),
        })
        .optional()
        .describe('Zone of Route 53 that gets a record. Default: none.'),
    })
    .optional()
    .describe("A name of your own. Default: API Gateway's."),
  timeoutSeconds: wholeIn(API_TIMEOUT_SECONDS)
    .optional()
    .describe(
      `Longest wait for an answer. More than ${DEFAULT_TIMEOUT_SECONDS} needs a higher quota of API Gateway. ${byDefault(DEFAULT_TIMEOUT_SECONDS)}`,
    ),
});
