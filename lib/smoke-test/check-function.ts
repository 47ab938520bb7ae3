/** The function that checks an endpoint after a deployment, with or without samples. */
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Runtime } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction, type NodejsFunctionProps } from 'aws-cdk-lib/aws-lambda-nodejs';
import { Aws, Duration } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { createLogGroup } from '../encryption.ts';
import { spellings } from '../endpoint/default-name.ts';
import { bundledFunction } from '../hashing/bundled-function.ts';

/** Longest run of a Lambda function. */
export const CHECK_TIMEOUT = Duration.minutes(15);

/** What differs between checks. */
interface CheckFunctionProps
  extends Pick<
    NodejsFunctionProps,
    'environment' | 'layers' | 'vpc' | 'vpcSubnets' | 'securityGroups'
  > {
  readonly description: string;
  /** The endpoint whose state the function may read. */
  readonly endpointArn: string;
  readonly endpointName: string;
}

/** Adds the function, which may read the endpoint's state and the stack's, and write its log. */
export function createCheckFunction(scope: Construct, props: CheckFunctionProps) {
  const { endpointArn, endpointName, ...functionProps } = props;
  const logGroup = createLogGroup(scope, 'Log');
  const role = new Role(scope, 'Role', {
    description: props.description,
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
  });
  logGroup.grantWrite(role);
  role.addToPolicy(
    new PolicyStatement({
      actions: ['sagemaker:DescribeEndpoint'],
      resources: spellings(endpointArn, endpointName),
    }),
  );
  role.addToPolicy(
    new PolicyStatement({
      actions: ['cloudformation:DescribeStacks'],
      resources: [Aws.STACK_ID],
    }),
  );
  const handler = new NodejsFunction(scope, 'Function', {
    ...bundledFunction('smoke-test'),
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    memorySize: 1024,
    timeout: CHECK_TIMEOUT,
    role,
    logGroup,
    ...functionProps,
  });
  return { handler, role };
}
