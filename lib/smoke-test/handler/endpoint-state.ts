/** Whether the endpoint runs what was just deployed. */
import { DescribeEndpointCommand, type SageMakerClient } from '@aws-sdk/client-sagemaker';
import { smokeTestFailure } from '../../errors.ts';

const POLL_MS = 5_000;
/** States that end by themselves. */
const CHANGING = ['Creating', 'Updating', 'SystemUpdating', 'RollingBack'];

/**
 * Waits for the endpoint to be InService, with the configuration just deployed. After a silent rollback
 * an endpoint is InService too, with the old one.
 * @throws ConstructError SMOKE_TEST_FAILED saying what was expected
 */
export async function waitForEndpoint(
  client: SageMakerClient,
  endpointName: string,
  endpointConfigName: string,
  deadline: number,
): Promise<void> {
  for (;;) {
    const endpoint = await client.send(new DescribeEndpointCommand({ EndpointName: endpointName }));
    const status = endpoint.EndpointStatus ?? 'unknown';
    const reason = endpoint.FailureReason ? ` (${endpoint.FailureReason})` : '';
    if (!CHANGING.includes(status)) {
      if (status !== 'InService') {
        throw smokeTestFailure('endpoint status', 'InService', `${status}${reason}`);
      }
      if (endpoint.EndpointConfigName === endpointConfigName) return;
      throw smokeTestFailure(
        'endpoint configuration',
        endpointConfigName,
        `${endpoint.EndpointConfigName}: the update was rolled back${reason}`,
      );
    }
    if (Date.now() + POLL_MS > deadline) {
      throw smokeTestFailure('endpoint status', 'InService in time', `${status}${reason}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
