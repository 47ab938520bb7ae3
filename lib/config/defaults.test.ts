/** Defaults are typed once; the doc comments of the constructs' props say the same. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { DEFAULT_SERVER_ERRORS } from '../endpoint/deployment.ts';
import { DEFAULT_LOG_RETENTION } from '../endpoint/log-group.ts';
import { DEFAULT_INSTANCE_TYPE } from '../endpoint/variant.ts';
import { DEFAULT_TIMEOUT_SECONDS } from '../endpoint-api/check-props.ts';
import { DEFAULT_BAKE_SECONDS, SERVERLESS_CONCURRENCY } from '../rules/limits.ts';
import { DEFAULT_ITERATIONS } from '../smoke-test/plan.ts';

test.each<[file: string, prop: string, value: string | number]>([
  ['endpoint/variant.ts', 'instanceType', DEFAULT_INSTANCE_TYPE],
  ['endpoint/serverless.ts', 'maxConcurrency', SERVERLESS_CONCURRENCY.default],
  ['endpoint/deployment.ts', 'serverErrorsPerMinute', DEFAULT_SERVER_ERRORS],
  ['endpoint/deployment.ts', 'bakeTime', DEFAULT_BAKE_SECONDS / 60],
  ['endpoint/props.ts', 'logRetention', `RetentionDays.${RetentionDays[DEFAULT_LOG_RETENTION]}`],
  ['endpoint-api/props.ts', 'timeout', DEFAULT_TIMEOUT_SECONDS],
  ['smoke-test/smoke-test.ts', 'iterations', DEFAULT_ITERATIONS],
])('%s: %s', (file, prop, value) => {
  const text = readFileSync(join(__dirname, '..', file), 'utf8');
  const [before] = text.split(new RegExp(`\\n  readonly ${prop}\\?:`));
  const documented = before?.slice(before.lastIndexOf('@default')) ?? '';
  expect(documented.match(/[\w.]+/g)).toContain(String(value));
});
