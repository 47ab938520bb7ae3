/**
 * Whether the endpoint runs what was deployed. SageMaker's rollback leaves it InService with the old
 * configuration; CloudFormation would take that for success and delete the configuration in use.
 */
import type { CfnEndpoint } from 'aws-cdk-lib/aws-sagemaker';
import { CustomResource, Duration, Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { CHECK_TIMEOUT, createCheckFunction } from './check-function.ts';
import type { SmokeTestPlan } from './plan.ts';

/** What is compared. */
interface DeployedProps {
  /** The endpoint, which comes first. */
  readonly endpoint: CfnEndpoint;
  readonly endpointName: string;
  readonly endpointArn: string;
  /** Name of the configuration that the template asks for. */
  readonly endpointConfigName: string;
}

/** Adds the check, which fails the deployment. What must come after a proven endpoint depends on it. */
export function checkDeployed(scope: Construct, props: DeployedProps): CustomResource {
  const check = new Construct(scope, 'Deployed');
  const { endpointName, endpointArn, endpointConfigName } = props;
  const { handler, role } = createCheckFunction(check, {
    description: `Checks which configuration ${endpointName} runs`,
    endpointArn,
    endpointName,
  });
  // A smoke test without samples: the state of the endpoint alone.
  const plan: SmokeTestPlan = {
    endpointName,
    endpointConfigName,
    endpointId: props.endpoint.logicalId,
    variants: [],
    iterations: 0,
    samples: [],
    metricNamespace: '',
  };
  const resource = new CustomResource(check, 'Resource', {
    resourceType: 'Custom::SageMakerDeployedConfiguration',
    serviceToken: handler.functionArn,
    serviceTimeout: CHECK_TIMEOUT.plus(Duration.minutes(1)),
    properties: { Plan: Stack.of(scope).toJsonString(plan) },
  });
  resource.node.addDependency(role, props.endpoint);
  return resource;
}
