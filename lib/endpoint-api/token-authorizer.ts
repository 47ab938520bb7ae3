/** The function that checks tokens, as an authorizer of API Gateway. */
import { TokenAuthorizer } from 'aws-cdk-lib/aws-apigateway';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Runtime } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { Duration } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { createLogGroup } from '../encryption.ts';
import { bundledFunction } from '../hashing/bundled-function.ts';
import type { JwtProps } from './props.ts';

/** A REST API has no check of tokens of its own, except of Cognito's. API Gateway keeps each result for a minute. */
export function createTokenAuthorizer(scope: Construct, props: JwtProps): TokenAuthorizer {
  const description = 'Checks the tokens of requests';
  const logGroup = createLogGroup(scope, 'AuthorizerLog');
  const role = new Role(scope, 'AuthorizerRole', {
    description,
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
  });
  logGroup.grantWrite(role);
  const handler = new NodejsFunction(scope, 'AuthorizerFunction', {
    description,
    ...bundledFunction('authorizer'),
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    memorySize: 512,
    timeout: Duration.seconds(9),
    role,
    logGroup,
    environment: {
      JWT_ISSUER: props.issuer,
      JWT_AUDIENCE: JSON.stringify(props.audience),
      JWT_SCOPES: JSON.stringify(props.scopes ?? []),
    },
  });
  return new TokenAuthorizer(scope, 'Authorizer', {
    handler,
    resultsCacheTtl: Duration.minutes(1),
    validationRegex: '^[Bb]earer +[-\\w.~+/=]+$',
  });
}
