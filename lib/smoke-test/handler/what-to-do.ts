/** What a person does about an endpoint that does not run the configuration of its stack, with the commands. */
import type { SmokeTestPlan } from '../plan.ts';

type Planned = Pick<SmokeTestPlan, 'endpointName' | 'endpointConfigName' | 'endpointId'>;

/** Name in a stack's ARN: `arn:aws:cloudformation:REGION:ACCOUNT:stack/NAME/ID`. */
const nameOf = (stackId: string) => stackId.split('/')[1] ?? stackId;

/**
 * After SageMaker's own rollback. CloudFormation's then asks for the configuration in use, which SageMaker refuses.
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ContinueUpdateRollback.html
 */
export function afterRollback({ endpointId }: Planned, stackId: string): string {
  if (endpointId === undefined) return '';
  return ` If the stack ends in UPDATE_ROLLBACK_FAILED at ${endpointId} ('currently in use endpoint configuration'), the endpoint runs the old configuration already: aws cloudformation continue-update-rollback --stack-name ${nameOf(stackId)} --resources-to-skip ${endpointId}`;
}

const update = ({ endpointName, endpointConfigName }: Planned) =>
  `aws sagemaker update-endpoint --endpoint-name ${endpointName} --endpoint-config-name ${endpointConfigName}`;

/** In a rollback that continues although nobody knows which configuration is in use. */
export function afterUnknown(planned: Planned): string {
  return ` The rollback continues, and deletes the newer configuration. Unless describe-endpoint shows ${planned.endpointConfigName}: ${update(planned)}`;
}

/** In a rollback that must stop, so that CloudFormation does not delete the configuration in use. */
export function inRollback(planned: Planned, stackId: string): string {
  return ` The rollback stops here, and the configuration in use is kept. Unless describe-endpoint shows ${planned.endpointConfigName} by now: ${update(planned)}. When the endpoint is InService: aws cloudformation continue-update-rollback --stack-name ${nameOf(stackId)}`;
}
