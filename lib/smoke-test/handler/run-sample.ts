/** All calls of one sample over one transport. */
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import { parseCustomAttributes, type Transport } from '@sagemaker-tfs/tensors/custom-attributes';
import { ConstructError, smokeTestFailure } from '../../errors.ts';
import type { SmokeTestPlan, SmokeTestSample, SmokeTestVariant } from '../plan.ts';
import type { Ask } from './ask.ts';
import { checkExpectation, type ReadFile } from './expectations.ts';
import { checkLimits, type LatencySummary, summarize } from './latency.ts';
import { type Reply, readAnswer } from './reply.ts';

/** What was measured. */
export interface SampleResult extends LatencySummary {
  readonly variant: string;
  readonly sample: string;
  readonly transport: Transport;
  readonly calls: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
}

/** One sample's share of a plan. */
interface SampleRun {
  readonly plan: SmokeTestPlan;
  readonly variant: SmokeTestVariant;
  readonly sample: SmokeTestSample;
  readonly transport: Transport;
  readonly readFile: ReadFile;
  /** When calls must end, milliseconds since 1970. */
  readonly deadline: number;
}

/**
 * Calls once, then `iterations` times, and checks every answer. An answer with the bytes of the first is
 * not read again.
 * @throws Error naming variant, sample, transport, call and check
 */
export async function runSample(ask: Ask, run: SampleRun): Promise<SampleResult> {
  const { plan, variant, sample, transport, deadline } = run;
  const { endpointName } = plan;
  const { name, componentName } = variant;
  const component = componentName === undefined ? {} : { componentName };
  const route = { endpointName, variant: name, ...component, transport, deadline };
  const body = run.readFile(sample.file);
  let calls = 0;
  const call = async () => {
    checkTime(run, calls);
    calls += 1;
    return ask(route, sample, body);
  };
  try {
    const first = await call();
    checkReply(first, run);
    const times: number[] = [];
    while (times.length < plan.iterations) {
      const reply = await call();
      if (!sameReply(first, reply)) checkReply(reply, run);
      times.push(reply.ms);
    }
    const latency = summarize(first.ms, times);
    const slow = sample.limits && checkLimits(latency, sample.limits);
    if (slow) throw smokeTestFailure(slow.check, slow.expected, slow.got);
    const sizes = { requestBytes: body.byteLength, responseBytes: first.body.byteLength };
    const names = { variant: variant.name, sample: sample.name, transport };
    return { ...names, ...latency, ...sizes, calls: times.length };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new ConstructError(
      'SMOKE_TEST_FAILED',
      `sample '${sample.name}' over ${transport} to variant ${variant.name}, call ${calls}: ${sentence(message)} See the log of the endpoint.`,
      { cause: error },
    );
  }
}

function checkTime({ plan, deadline }: SampleRun, calls: number): void {
  if (Date.now() <= deadline) return;
  throw smokeTestFailure(
    'time',
    `${plan.iterations + 1} calls before the function's time ends (ask for fewer iterations)`,
    `${calls} calls`,
  );
}

function sameReply(a: Reply, b: Reply): boolean {
  return (
    a.contentType === b.contentType &&
    fingerprintOf(a) === fingerprintOf(b) &&
    Buffer.compare(a.body, b.body) === 0
  );
}

/** The fingerprint that the runtime puts into every answer's custom attributes. */
function fingerprintOf({ customAttributes }: Reply): string | undefined {
  return parseCustomAttributes(customAttributes)['tfs-fingerprint'];
}

function checkReply(reply: Reply, { variant, sample, readFile }: SampleRun): void {
  const fingerprint = fingerprintOf(reply);
  if (variant.fingerprint !== undefined && fingerprint !== variant.fingerprint) {
    const got = fingerprint ?? 'none: another container, or another model';
    throw smokeTestFailure('fingerprint of the answering model', variant.fingerprint, got);
  }
  const answer = readAnswer(reply);
  for (const expectation of sample.expect ?? []) {
    const difference = checkExpectation(answer, expectation, readFile);
    if (!difference) continue;
    throw smokeTestFailure(difference.check, difference.expected, difference.got);
  }
}
