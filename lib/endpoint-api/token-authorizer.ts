/** The function that checks tokens, as an authorizer of API Gateway. */
import { TokenAuthorizer } from 'aws-cdk-lib/aws-apigateway';
import { Duration } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { addFunction } from '../add-function.ts';
import type { JwtProps } from './props.ts';

/** A REST API has no check of tokens of its own, except of Cognito's. API Gateway keeps each result for a minute. */
export function createTokenAuthorizer(scope: Construct, props: JwtProps): TokenAuthorizer {
  const settings = {
    description: 'Checks the tokens of requests',
    memorySize: 512,
    timeout: Duration.seconds(9),
    environment: {
      JWT_ISSUER: props.issuer,
      JWT_AUDIENCE: JSON.stringify(props.audience),
      JWT_SCOPES: JSON.stringify(props.scopes ?? []),
    },
  };
  const { handler } = addFunction(scope, 'authorizer', settings, 'Authorizer');
  return new TokenAuthorizer(scope, 'Authorizer', {
    handler,
    resultsCacheTtl: Duration.minutes(1),
    validationRegex: '^[Bb]earer +[-\\w.~+/=]+$',
  });
}
