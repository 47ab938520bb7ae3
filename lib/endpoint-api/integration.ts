/** The way from API Gateway to SageMaker's InvokeEndpoint and back. */
import { CUSTOM_ATTRIBUTES_HEADER } from '@sagemaker-tfs/tensors/custom-attributes';
import {
  AwsIntegration,
  ContentHandling,
  type IntegrationResponse,
  type MethodOptions,
  type MethodResponse,
} from 'aws-cdk-lib/aws-apigateway';
import type { IRole } from 'aws-cdk-lib/aws-iam';
import type { Duration } from 'aws-cdk-lib/core';
import { FAILURES } from './failures.ts';

/** Of one variant and one model: these two choose between several. */
const CHOOSING = {
  variant: 'X-Amzn-SageMaker-Target-Variant',
  model: 'X-Amzn-SageMaker-Target-Model',
};
const REQUEST_HEADERS = [
  'Content-Type',
  'Accept',
  CUSTOM_ATTRIBUTES_HEADER,
  'X-Amzn-SageMaker-Inference-Id',
];
/** Headers of an answer that callers get. */
const RESPONSE_HEADERS = [CUSTOM_ATTRIBUTES_HEADER, 'x-Amzn-Invoked-Production-Variant'];

/** What differs between endpoints. */
export interface Route {
  readonly endpointName: string;
  /** Role of API Gateway that may call the endpoint. */
  readonly role: IRole;
  readonly timeout: Duration;
  /** Whether requests may name one of several variants, or models. */
  readonly chooses: { readonly variant: boolean; readonly model: boolean };
  /** Origin whose pages may read answers; undefined for none. */
  readonly corsOrigin: string | undefined;
}

/** Headers of requests that SageMaker gets. */
export function requestHeaders({ chooses }: Pick<Route, 'chooses'>): string[] {
  return [
    ...REQUEST_HEADERS,
    ...(chooses.variant ? [CHOOSING.variant] : []),
    ...(chooses.model ? [CHOOSING.model] : []),
  ];
}

/**
 * Bodies pass as they are. API Gateway would convert an answer by the request's `Accept`; as binary it
 * leaves it alone.
 */
export function invokeEndpoint(route: Route): AwsIntegration {
  const requestParameters = Object.fromEntries(
    requestHeaders(route).map((name) => [
      `integration.request.header.${name}`,
      `method.request.header.${name}`,
    ]),
  );
  return new AwsIntegration({
    service: 'runtime.sagemaker',
    path: `endpoints/${route.endpointName}/invocations`,
    options: {
      credentialsRole: route.role,
      timeout: route.timeout,
      requestParameters,
      integrationResponses: [
        {
          statusCode: '200',
          contentHandling: ContentHandling.CONVERT_TO_BINARY,
          responseParameters: headersOf(route, (name) => `integration.response.header.${name}`),
        },
        ...FAILURES.map(
          ({ pattern, status, template }): IntegrationResponse => ({
            selectionPattern: pattern,
            statusCode: status,
            contentHandling: ContentHandling.CONVERT_TO_TEXT,
            responseParameters: headersOf(route, () => undefined),
            responseTemplates: { 'application/json': template },
          }),
        ),
      ],
    },
  });
}

/** The parts of a method that integrations map from and to. */
export function methodOptions(route: Pick<Route, 'chooses' | 'corsOrigin'>): MethodOptions {
  const responseParameters = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [`method.response.header.${name}`, true]));
  const cors = route.corsOrigin === undefined ? [] : Object.keys(corsHeaders(route.corsOrigin));
  const failures = FAILURES.map(
    ({ status }): MethodResponse => ({
      statusCode: status,
      responseParameters: responseParameters(['Content-Type', ...cors]),
    }),
  );
  return {
    requestParameters: Object.fromEntries(
      requestHeaders(route).map((name) => [`method.request.header.${name}`, false]),
    ),
    methodResponses: [
      {
        statusCode: '200',
        responseParameters: responseParameters(['Content-Type', ...RESPONSE_HEADERS, ...cors]),
      },
      ...failures,
    ],
  };
}

/** Headers of CORS that an answer has; values as API Gateway takes constants. */
export function corsHeaders(origin: string): Readonly<Record<string, string>> {
  return {
    'Access-Control-Allow-Origin': `'${origin}'`,
    'Access-Control-Expose-Headers': `'${RESPONSE_HEADERS.join(',')}'`,
  };
}

/** `from` says where a header of an answer comes from; undefined for an error, which is JSON and has no others. */
function headersOf({ corsOrigin }: Route, from: (name: string) => string | undefined) {
  const own = ['Content-Type', ...RESPONSE_HEADERS].flatMap((name) => {
    const source = from(name) ?? (name === 'Content-Type' ? `'application/json'` : undefined);
    return source === undefined ? [] : [[name, source] as const];
  });
  const cors = corsOrigin === undefined ? [] : Object.entries(corsHeaders(corsOrigin));
  return Object.fromEntries(
    [...own, ...cors].map(([name, source]) => [`method.response.header.${name}`, source]),
  );
}
