/** Props of {@link EndpointApi}. */
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Duration } from 'aws-cdk-lib/core';
import type { IRealtimeEndpoint } from '../endpoint/endpoint-base.ts';

/**
 * How callers show who they are: a key in the header `x-api-key`, a token in `Authorization: Bearer`, or a signature
 * made with AWS keys.
 */
export type ApiAuth = 'apiKey' | 'jwt' | 'iam';

/** Which tokens are taken. */
export interface JwtProps {
  /** Address of the issuer, as the claim `iss` has it. Its keys are found through `/.well-known/openid-configuration`. */
  readonly issuer: string;
  /** The claim `aud`, or `client_id` of tokens without it, must name one of these. */
  readonly audience: readonly string[];
  /**
   * The claim `scope` or `scp` must name one of these.
   * @default - any scope
   */
  readonly scopes?: readonly string[];
}

/** The most calls. @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-request-throttling.html */
export interface ApiThrottle {
  /** Calls a second, on average. */
  readonly requestsPerSecond: number;
  /** Calls at once. */
  readonly burst: number;
}

/** A name of your own for the API. */
export interface ApiDomain {
  /** For example `models.example.com`. */
  readonly name: string;
  /** ARN of a certificate for the name, in the API's region. */
  readonly certificateArn: string;
  /**
   * Zone of Route 53 that gets a record for the name.
   * @default - none: point the name at the stack's output yourself
   */
  readonly hostedZone?: { readonly id: string; readonly name: string };
}

/** Props of {@link EndpointApi}. */
export interface EndpointApiProps {
  /** Endpoint that answers, in the account and region of the API. Not an asynchronous one. */
  readonly endpoint: IRealtimeEndpoint;
  /** How callers show who they are. */
  readonly auth: ApiAuth;
  /**
   * Which tokens are taken, with `auth: 'jwt'`.
   * @default - none
   */
  readonly jwt?: JwtProps;
  /**
   * The most calls; the rest get 429.
   * @default - API Gateway's limits of the account
   */
  readonly throttle?: ApiThrottle;
  /**
   * Origin whose pages may call from a browser, such as `https://app.example.com`, or `*`.
   * @default - no pages of other origins
   */
  readonly corsOrigin?: string;
  /**
   * A name of your own. The API then has no other.
   * @default - API Gateway's name
   */
  readonly domain?: ApiDomain;
  /**
   * Longest wait for an answer, 1-60 seconds. More than 29 needs a higher quota of API Gateway.
   * @default 29 seconds
   */
  readonly timeout?: Duration;
  /**
   * Key of the log of the function that checks tokens.
   * @default - the key of the stack, or of the endpoint, or AWS's own key
   */
  readonly encryptionKey?: IKey;
}
