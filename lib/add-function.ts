/** A Lambda function of this package with a role and a log group of its own. */
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Runtime } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction, type NodejsFunctionProps } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { Construct } from 'constructs';
import { createLogGroup } from './encryption.ts';
import { bundledFunction, type FunctionName } from './hashing/bundled-function.ts';

type OwnProps = Required<Pick<NodejsFunctionProps, 'description' | 'memorySize' | 'timeout'>> &
  Pick<NodejsFunctionProps, 'environment' | 'deadLetterQueue'>;

/**
 * Adds a function that may write its log and nothing else yet.
 * @param prefix what the ids of log, role and function begin with
 */
export function addFunction(
  scope: Construct,
  name: FunctionName,
  props: OwnProps,
  prefix = '',
): { readonly handler: NodejsFunction; readonly role: Role } {
  const logGroup = createLogGroup(scope, `${prefix}Log`);
  const role = new Role(scope, `${prefix}Role`, {
    description: props.description,
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
  });
  logGroup.grantWrite(role);
  const handler = new NodejsFunction(scope, `${prefix}Function`, {
    ...props,
    ...bundledFunction(name),
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    role,
    logGroup,
  });
  return { handler, role };
}
