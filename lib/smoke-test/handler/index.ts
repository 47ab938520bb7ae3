/** The function behind the smoke test's custom resource. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { S3Client } from '@aws-sdk/client-s3';
import { SageMakerClient } from '@aws-sdk/client-sagemaker';
import { SageMakerRuntimeClient } from '@aws-sdk/client-sagemaker-runtime';
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import { parseJson } from '@sagemaker-tfs/tensors';
import type { SmokeTestPlan, SmokeTestSample, SmokeTestVariant } from '../plan.ts';
import type { Ask } from './ask.ts';
import { type CustomResourceEvent, type CustomResourceResult, respond } from './cfn-response.ts';
import { checkState, type InUse, inUse, settledEndpoint } from './endpoint-state.ts';
import { askAtOnce } from './invoke.ts';
import { askThroughQueue } from './invoke-async.ts';
import { embeddedMetrics, notMeasured, outputs, type SmokeTestOutputs, table } from './report.ts';
import { runSample, type SampleResult } from './run-sample.ts';
import { isRollingBack } from './stack-state.ts';
import { afterRollback, afterUnknown, inRollback } from './what-to-do.ts';

/** What of Lambda's context is used. */
interface Context {
  getRemainingTimeInMillis(): number;
}

/** Kept back for answering CloudFormation, milliseconds. */
const RESERVE_MS = 30_000;

/** Sends the samples. @throws naming the check that did not hold, what was expected and what came */
async function runSamples(plan: SmokeTestPlan, deadline: number): Promise<SmokeTestOutputs> {
  const clients = { runtime: new SageMakerRuntimeClient({}), s3: new S3Client({}) };
  const { asyncInputUri } = plan;
  const ask: Ask =
    asyncInputUri === undefined
      ? askAtOnce(clients.runtime)
      : askThroughQueue(clients, asyncInputUri);
  const samples = process.env.SAMPLES_DIR ?? '/opt/samples';
  const readFile = (name: string) => readFileSync(join(samples, name));
  const results: SampleResult[] = [];
  try {
    for (const variant of plan.variants) {
      for (const sample of plan.samples.filter(isFor(variant))) {
        for (const transport of variant.transports) {
          const run = { plan, variant, sample, transport, readFile, deadline };
          results.push(await runSample(ask, run));
        }
      }
    }
    return outputs(plan, results);
  } finally {
    for (const result of results) console.log(embeddedMetrics(plan, result, Date.now()));
    console.log(table(plan, results));
    clients.runtime.destroy();
    clients.s3.destroy();
  }
}

async function stateOf({ endpointName }: SmokeTestPlan, deadline: number) {
  // Looks are repeated anyway, and each shows why it failed.
  const sagemaker = new SageMakerClient({ maxAttempts: 1 });
  try {
    return await settledEndpoint(sagemaker, endpointName, deadline);
  } finally {
    sagemaker.destroy();
  }
}

/** Values that answers must equal stand in it as JSON of their own. */
function readPlan(text: string): SmokeTestPlan {
  return JSON.parse(text, (key, value) =>
    key === 'equals' ? parseJson(value as string) : value,
  ) as SmokeTestPlan;
}

/** Samples without a component are for all. */
function isFor({ name }: SmokeTestVariant) {
  return ({ component }: SmokeTestSample) => component === undefined || component === name;
}

async function resultOf(
  event: CustomResourceEvent,
  context: Context,
): Promise<CustomResourceResult> {
  if (event.RequestType === 'Delete') return { status: 'SUCCESS' };
  const deadline = Date.now() + context.getRemainingTimeInMillis() - RESERVE_MS;
  let plan: SmokeTestPlan | undefined;
  let runs: InUse = 'unknown';
  try {
    plan = readPlan(event.ResourceProperties.Plan ?? '');
    const state = await stateOf(plan, deadline);
    runs = inUse(state, plan.endpointConfigName);
    checkState(state, plan.endpointConfigName);
    return { status: 'SUCCESS', data: { ...notMeasured(), ...(await runSamples(plan, deadline)) } };
  } catch (error) {
    const reason = `Smoke test failed: ${sentence(error instanceof Error ? error.message : String(error))}`;
    console.error(reason, error);
    return failed(event, plan, reason, runs);
  }
}

/**
 * A failed check fails the deployment, but stops a rollback only if that would delete the configuration in use. Where
 * none is known the rollback continues: CloudFormation has waited for the endpoint, and who continued it would meet the
 * same failure.
 */
async function failed(
  { StackId }: CustomResourceEvent,
  plan: SmokeTestPlan | undefined,
  reason: string,
  runs: InUse,
): Promise<CustomResourceResult> {
  const rollsBack = await isRollingBack(StackId);
  if (rollsBack && runs !== 'other') {
    const todo = plan && runs === 'unknown' ? afterUnknown(plan) : '';
    const why = `${reason} (the stack is rolling back)${todo}`;
    console.warn(why);
    return { status: 'SUCCESS', reason: why, data: notMeasured() };
  }
  if (runs === 'this' || !plan) return { status: 'FAILED', reason };
  const todo = rollsBack ? inRollback(plan, StackId) : afterRollback(plan, StackId);
  return { status: 'FAILED', reason: `${reason}${todo}` };
}

/** Lambda's entry: answers CloudFormation whatever happens. */
export async function handler(event: CustomResourceEvent, context: Context): Promise<void> {
  const result = await resultOf(event, context);
  await respond(event, event.PhysicalResourceId ?? `smoke-test-${event.LogicalResourceId}`, result);
}
