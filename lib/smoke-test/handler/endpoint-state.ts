/** Whether the endpoint runs what was just deployed. */
import { DescribeEndpointCommand, type SageMakerClient } from '@aws-sdk/client-sagemaker';
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import { ConstructError, smokeTestFailure } from '../../errors.ts';

const POLL_MS = 5_000;
/** Of one look: a connection that hangs, as in a VPC without a way to SageMaker, ends in time for the next look. */
const LOOK_MS = 10_000;
/** Of the last look, which may begin at the deadline. */
const LEAST_LOOK_MS = 1_000;
/** States that end by themselves. */
const CHANGING = ['Creating', 'Updating', 'SystemUpdating', 'RollingBack'];
/** Of a failure's reason, so that what to do fits behind it. */
const MAX_REASON = 300;

/** An endpoint as it was last seen. */
export interface EndpointState {
  readonly status: string;
  /** Name of the configuration in use. */
  readonly configName: string | undefined;
  /** In brackets, or empty. */
  readonly reason: string;
}

/** Which configuration the endpoint runs, as far as it is known: the one just deployed, or another. */
export type InUse = 'this' | 'other' | 'unknown';

/**
 * Waits until the endpoint no longer changes, at most until the deadline. Looks that fail are repeated: a role's policy
 * counts only after a while, and calls may be throttled.
 * @returns the last that was seen; undefined if there is no endpoint
 * @throws ConstructError SMOKE_TEST_FAILED if no look had an answer
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot.html (eventually consistent)
 */
export async function settledEndpoint(
  client: SageMakerClient,
  endpointName: string,
  deadline: number,
): Promise<EndpointState | undefined> {
  let seen: EndpointState | undefined;
  for (;;) {
    let failure: unknown;
    try {
      seen = await describe(client, endpointName, deadline - Date.now());
      if (!seen || !isChanging(seen)) return seen;
    } catch (error) {
      console.warn('DescribeEndpoint failed', error);
      failure = error;
    }
    if (Date.now() + POLL_MS > deadline) return seen ?? notSeen(failure);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function notSeen(cause: unknown): never {
  const why = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
  const message = `endpoint status: not known, every DescribeEndpoint failed, the last with ${sentence(why.slice(0, MAX_REASON))} Check the role of this function, and its way to SageMaker.`;
  throw new ConstructError('SMOKE_TEST_FAILED', message, { cause });
}

const isChanging = ({ status }: EndpointState) => CHANGING.includes(status);

async function describe(
  client: SageMakerClient,
  endpointName: string,
  milliseconds: number,
): Promise<EndpointState | undefined> {
  const limit = Math.max(LEAST_LOOK_MS, Math.min(LOOK_MS, milliseconds));
  try {
    const endpoint = await client.send(
      new DescribeEndpointCommand({ EndpointName: endpointName }),
      { abortSignal: AbortSignal.timeout(limit) },
    );
    const { EndpointStatus, EndpointConfigName, FailureReason } = endpoint;
    return {
      status: EndpointStatus ?? 'unknown',
      configName: EndpointConfigName,
      reason: FailureReason ? ` (${FailureReason.slice(0, MAX_REASON)})` : '',
    };
  } catch (error) {
    if (error instanceof Error && error.message.includes('Could not find endpoint')) return;
    throw error;
  }
}

/**
 * CloudFormation may delete every other configuration if the endpoint runs this one and does not change, or is not
 * there.
 */
export function inUse(state: EndpointState | undefined, configName: string): InUse {
  const isThis = state === undefined || (state.configName === configName && !isChanging(state));
  return isThis ? 'this' : 'other';
}

/**
 * Refuses an endpoint that is not InService with the configuration just deployed. After a silent rollback an endpoint
 * is InService too, with the old one.
 * @throws ConstructError SMOKE_TEST_FAILED saying what was expected
 */
export function checkState(state: EndpointState | undefined, configName: string): void {
  if (!state) throw smokeTestFailure('endpoint status', 'InService', 'no endpoint of that name');
  const { status, reason } = state;
  if (isChanging(state)) {
    throw smokeTestFailure('endpoint status', 'InService in time', `${status}${reason}`);
  }
  if (status !== 'InService') {
    throw smokeTestFailure('endpoint status', 'InService', `${status}${reason}`);
  }
  if (state.configName === configName) return;
  throw smokeTestFailure(
    'endpoint configuration',
    configName,
    `${state.configName}: the update was rolled back${reason}`,
  );
}
