/** The API of an endpoint, with the outputs that callers need. */
import { Aws, CfnOutput, Duration, type Stack } from 'aws-cdk-lib/core';
import type { IDependable } from 'constructs';
import type { EndpointConfig } from '../config.ts';
import { definedOnly } from '../defined-only.ts';
import { EndpointApi } from '../endpoint-api.ts';
import type { RealtimeEndpoint } from '../realtime-endpoint.ts';

/** A body to try it with. */
export interface Sample {
  /** Path of the file. */
  readonly body: string;
  /** Its media type. */
  readonly type: string;
}

type ApiConfig = NonNullable<EndpointConfig['api']>;

/** Adds it behind the `proof` that the endpoint works, and the outputs `ApiUrl`, `ApiCommand`, `ApiKeyId` and `ApiDomainTarget`, as far as it has them. */
export function addApi(
  stack: Stack,
  endpoint: RealtimeEndpoint,
  { jwt, domain, timeoutSeconds, ...rest }: ApiConfig,
  sample: Sample,
  proof: IDependable | undefined,
): void {
  const api = new EndpointApi(stack, 'Api', {
    endpoint,
    ...definedOnly(rest),
    ...(jwt && { jwt: definedOnly(jwt) }),
    ...(domain && { domain: definedOnly(domain) }),
    ...(timeoutSeconds !== undefined && { timeout: Duration.seconds(timeoutSeconds) }),
  });
  if (proof) api.method.node.addDependency(proof);
  const outputs = {
    ApiUrl: api.url,
    ApiKeyId: api.apiKey?.keyId,
    ApiDomainTarget: api.domainTarget,
    ApiCommand: `curl ${identity(rest.auth, api)} -H 'Content-Type: ${sample.type}' --data-binary @${sample.body} ${api.url}`,
  };
  for (const [name, value] of Object.entries(outputs)) {
    if (value !== undefined) new CfnOutput(stack, name, { value });
  }
}

/** How curl shows who calls. */
function identity(auth: ApiConfig['auth'], { apiKey }: EndpointApi): string {
  if (apiKey) {
    return `-H "x-api-key: $(aws apigateway get-api-key --api-key ${apiKey.keyId} --include-value --query value --output text)"`;
  }
  if (auth === 'jwt') return '-H "Authorization: Bearer $TOKEN"';
  return `--aws-sigv4 aws:amz:${Aws.REGION}:execute-api --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY" -H "X-Amz-Security-Token: $AWS_SESSION_TOKEN"`;
}
