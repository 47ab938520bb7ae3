/** What API Gateway and SageMaker would refuse of an API, refused at once. */
import { Annotations, Arn, ArnFormat, Stack, Token, TokenComparison } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { IRealtimeEndpoint } from '../endpoint/endpoint-base.ts';
import { RealtimeEndpoint } from '../realtime-endpoint.ts';
import { API_TIMEOUT_SECONDS } from '../rules/bounds.ts';
import { ASYNC_API } from '../rules/combinations.ts';
import { certificateProblem, tokenProblem } from '../rules/limits.ts';
import { checkInteger, checkRange, invalidProp, refuseProblem } from '../validation.ts';
import type { EndpointApiProps } from './props.ts';

/** Seconds that API Gateway waits without a higher quota. */
export const DEFAULT_TIMEOUT_SECONDS = 29;

/** @throws InvalidProp */
export function checkProps(scope: Construct, props: EndpointApiProps): void {
  const { endpoint, auth, jwt, throttle, corsOrigin, domain } = props;
  if (endpoint instanceof RealtimeEndpoint && endpoint.isAsync) {
    refuseProblem(scope, 'endpoint', ASYNC_API);
  }
  checkPlace(scope, endpoint);
  refuseProblem(scope, 'jwt', tokenProblem(auth, jwt));
  if (jwt) checkIssuer(scope, jwt.issuer);
  if (jwt?.audience.length === 0) {
    invalidProp(scope, 'jwt.audience', 'empty', 'Name who the tokens are for');
  }
  checkRange(scope, 'throttle.requestsPerSecond', throttle?.requestsPerSecond, 0.01, 1e6);
  checkInteger(scope, 'throttle.burst', throttle?.burst, 1, 1e6);
  if (corsOrigin !== undefined) checkOrigin(scope, corsOrigin);
  if (domain) checkCertificate(scope, domain.certificateArn);
  noteLimits(scope, endpoint, props.timeout?.toSeconds() ?? DEFAULT_TIMEOUT_SECONDS);
}

/** API Gateway calls SageMaker in its own account, and here in its own region, by the endpoint's name. */
function checkPlace(scope: Construct, { env }: IRealtimeEndpoint): void {
  const { account, region } = Stack.of(scope);
  const differs = (one: string, other: string) =>
    Token.compareStrings(one, other) === TokenComparison.DIFFERENT;
  if (!differs(env.account, account) && !differs(env.region, region)) return;
  const problem = `the endpoint is in ${place(env)}, and the API in ${place({ account, region })}`;
  invalidProp(scope, 'endpoint', problem, 'Put the API into a stack of that account and region');
}

const place = ({ account, region }: IRealtimeEndpoint['env']) =>
  [account, region].map((part) => (Token.isUnresolved(part) ? '(unknown)' : part)).join('/');

function checkIssuer(scope: Construct, issuer: string): void {
  if (Token.isUnresolved(issuer)) return;
  if (URL.canParse(issuer) && new URL(issuer).protocol === 'https:') return;
  const fix = 'Give its address as in the claim iss, https://...';
  invalidProp(scope, 'jwt.issuer', `'${issuer}' is no address with https`, fix);
}

function checkOrigin(scope: Construct, origin: string): void {
  if (origin === '*' || Token.isUnresolved(origin)) return;
  if (URL.canParse(origin) && new URL(origin).origin === origin) return;
  const fix = 'Give one as https://app.example.com, without a path, or *';
  invalidProp(scope, 'corsOrigin', `'${origin}' is no origin`, fix);
}

function checkCertificate(scope: Construct, arn: string): void {
  const { region } = Stack.of(scope);
  if (Token.isUnresolved(arn) || Token.isUnresolved(region)) return;
  const own = Arn.split(arn, ArnFormat.SLASH_RESOURCE_NAME).region;
  refuseProblem(scope, 'domain.certificateArn', certificateProblem(own, region));
}

/**
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_runtime_InvokeEndpoint.html
 * @see https://docs.aws.amazon.com/sagemaker/latest/dg/serverless-endpoints-invoke.html (4 MB)
 */
function noteLimits(scope: Construct, endpoint: IRealtimeEndpoint, seconds: number): void {
  const serverless =
    endpoint instanceof RealtimeEndpoint && endpoint.variants.some(({ props }) => props.serverless);
  checkRange(scope, 'timeout', seconds, ...API_TIMEOUT_SECONDS, 'seconds');
  Annotations.of(scope).addInfo(
    `API Gateway takes requests and answers of up to 10 MB and waits ${seconds} s for an answer; SageMaker takes ${serverless ? '4 MB of a serverless endpoint' : '25 MB'} and waits 60 s. Callers with AWS keys can call the endpoint itself`,
  );
  if (seconds <= DEFAULT_TIMEOUT_SECONDS) return;
  Annotations.of(scope).addWarningV2(
    '@sagemaker-tfs/cdk:apiTimeout',
    `timeout: ${seconds} s is more than the ${DEFAULT_TIMEOUT_SECONDS} s that API Gateway allows at first. Ask for a higher quota 'Maximum integration timeout in milliseconds' of API Gateway before you deploy`,
  );
}
