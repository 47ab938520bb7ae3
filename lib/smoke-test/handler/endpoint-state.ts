/** Whether the endpoint runs what was just deployed. */
import { DescribeEndpointCommand, type SageMakerClient } from '@aws-sdk/client-sagemaker';
import { smokeTestFailure } from '../../errors.ts';

const POLL_MS = 5_000;
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

/** Waits until the endpoint no longer changes, at most until the deadline. Undefined if there is no endpoint. */
export async function settledEndpoint(
  client: SageMakerClient,
  endpointName: string,
  deadline: number,
): Promise<EndpointState | undefined> {
  for (;;) {
    const state = await describe(client, endpointName);
    if (!state || !isChanging(state) || Date.now() + POLL_MS > deadline) return state;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

const isChanging = ({ status }: EndpointState) => CHANGING.includes(status);

async function describe(
  client: SageMakerClient,
  endpointName: string,
): Promise<EndpointState | undefined> {
  try {
    const endpoint = await client.send(new DescribeEndpointCommand({ EndpointName: endpointName }));
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
 * Whether CloudFormation may delete every other configuration: the endpoint runs this one and does not change, or is
 * not there.
 */
export function mayDeleteOthers(state: EndpointState | undefined, configName: string): boolean {
  return state === undefined || (state.configName === configName && !isChanging(state));
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
