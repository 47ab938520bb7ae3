/** HTTPS for callers without AWS keys: API Gateway in front of an endpoint. */
import {
  AuthorizationType,
  type DomainName,
  EndpointType,
  type IApiKey,
  type Method,
  type MethodOptions,
  ResponseType,
  RestApi,
  SecurityPolicy,
  type UsagePlan,
} from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { Grant, type IGrantable, Policy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { ARecord, HostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { ApiGatewayDomain } from 'aws-cdk-lib/aws-route53-targets';
import { Duration, Names, Stage, Token } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { encryptionKeyOf, setEncryptionKey } from './encryption.ts';
import { spellings } from './endpoint/default-name.ts';
import type { IRealtimeEndpoint } from './endpoint/endpoint-base.ts';
import { checkProps, DEFAULT_TIMEOUT_SECONDS } from './endpoint-api/check-props.ts';
import { corsHeaders, invokeEndpoint, methodOptions } from './endpoint-api/integration.ts';
import { addPreflight } from './endpoint-api/preflight.ts';
import type { ApiDomain, EndpointApiProps } from './endpoint-api/props.ts';
import { createTokenAuthorizer } from './endpoint-api/token-authorizer.ts';
import { RealtimeEndpoint } from './realtime-endpoint.ts';
import { scaleAfterProof } from './scale-after.ts';
import { invalidProp } from './validation.ts';

/** Path of requests, as in the container. */
const PATH = 'invocations';
const STAGE = 'v1';

/**
 * `POST /invocations` over HTTPS, which API Gateway sends to the endpoint as it is: bodies of all media types both ways,
 * with `Content-Type`, `Accept` and SageMaker's custom attributes. Errors of the container arrive with their own status
 * and body; others have the form `{"error": "...", "code": "..."}` too.
 *
 * Requests and answers of up to 10 MB, and 29 seconds for each.
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html
 */
export class EndpointApi extends Construct {
  readonly api: RestApi;
  /** `POST /invocations`. */
  readonly method: Method;
  /** Address to POST to. */
  readonly url: string;
  /** The key that callers send as `x-api-key`; undefined with other kinds of `auth`. */
  readonly apiKey: IApiKey | undefined;
  /** Allows further keys to call; undefined with other kinds of `auth` than `apiKey`. */
  readonly usagePlan: UsagePlan | undefined;
  /** Name that a record of your own points to; undefined without `domain`. */
  readonly domainTarget: string | undefined;
  private readonly signed: boolean;

  constructor(scope: Construct, id: string, props: EndpointApiProps) {
    super(scope, id);
    checkProps(this, props);
    const { auth, domain, corsOrigin } = props;
    setEncryptionKey(this, keyOf(this, props));
    this.signed = auth === 'iam';
    this.api = this.createApi(props);
    const resource = this.api.root.addResource(PATH);
    const route = this.routeOf(props);
    this.method = resource.addMethod('POST', invokeEndpoint(route), {
      ...methodOptions(route),
      ...this.authOf(props),
    });
    this.waitFor(props.endpoint, route.policy);
    if (corsOrigin !== undefined) addPreflight(resource, route, corsOrigin);
    this.addGatewayErrors(corsOrigin);
    if (auth === 'apiKey') {
      const { key, plan } = this.createKey(props);
      [this.apiKey, this.usagePlan] = [key, plan];
    }
    this.domainTarget = domain && this.createDomain(domain).domainNameAliasDomainName;
    this.url = domain ? `https://${domain.name}/${PATH}` : this.api.urlForPath(`/${PATH}`);
  }

  /**
   * Lets `grantee` call an API with `auth: 'iam'`. One of another account is named in the policy of the API, and needs
   * `execute-api:Invoke` in its own account too.
   * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-authorization-flow.html
   */
  grantInvoke(grantee: IGrantable): Grant {
    if (!this.signed) {
      return invalidProp(this, 'auth', 'nobody needs a grant to call', `Give auth: 'iam'`);
    }
    return Grant.addToPrincipalOrResource({
      grantee,
      actions: ['execute-api:Invoke'],
      resourceArns: [this.method.methodArn],
      resource: this.api,
      // The policy of an API cannot name the API itself.
      resourceSelfArns: [`execute-api:/${STAGE}/POST/${PATH}`],
    });
  }

  /**
   * An endpoint under another name is a new one, which takes minutes to start: until it is proven, the API leads to the
   * former one, which CloudFormation deletes last. Autoscaling begins last, as API Gateway may refuse what is here.
   */
  private waitFor(endpoint: IRealtimeEndpoint, policy: Policy): void {
    this.method.node.addDependency(policy);
    if (!(endpoint instanceof RealtimeEndpoint) || Stage.of(endpoint) !== Stage.of(this)) return;
    this.method.node.addDependency(endpoint.deployment);
    scaleAfterProof(endpoint, this, 'an API');
  }

  private createApi({ throttle, domain }: EndpointApiProps): RestApi {
    const api = new RestApi(this, 'Api', {
      // Metrics of CloudWatch tell APIs apart by their names alone.
      // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-metrics-and-dimensions.html
      restApiName: Names.uniqueResourceName(this, { maxLength: 128, separator: '-' }),
      description: `POST /${PATH} of a SageMaker endpoint`,
      binaryMediaTypes: ['*/*'],
      endpointTypes: [EndpointType.REGIONAL],
      cloudWatchRole: false,
      disableExecuteApiEndpoint: domain !== undefined,
      deployOptions: {
        stageName: STAGE,
        ...(throttle && {
          throttlingRateLimit: throttle.requestsPerSecond,
          throttlingBurstLimit: throttle.burst,
        }),
      },
    });
    // The CDK's output shows an address that answers nothing.
    api.node.tryRemoveChild('Endpoint');
    return api;
  }

  private routeOf({ endpoint, corsOrigin, timeout }: EndpointApiProps) {
    const role = new Role(this, 'Role', {
      description: 'Lets API Gateway call the endpoint',
      assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
    });
    const own = endpoint instanceof RealtimeEndpoint ? endpoint : undefined;
    const { endpointName } = endpoint;
    // A policy for each endpoint: that for the former one goes last, with it.
    const policy = new Policy(this, `Call${Token.isUnresolved(endpointName) ? '' : endpointName}`, {
      roles: [role],
    });
    // Not `grantInvoke`: API Gateway passes on whole answers, never streams.
    Grant.addToPrincipal({
      grantee: policy,
      actions: ['sagemaker:InvokeEndpoint'],
      resourceArns: spellings(endpoint.endpointArn, endpointName),
    });
    return {
      endpointName,
      role,
      policy,
      timeout: timeout ?? Duration.seconds(DEFAULT_TIMEOUT_SECONDS),
      chooses: {
        variant: (own?.variants.length ?? 0) > 1,
        model: own?.variants.some(({ props }) => props.model.data.multiModel) ?? false,
      },
      corsOrigin,
    };
  }

  private authOf({ auth, jwt }: EndpointApiProps): MethodOptions {
    if (auth === 'apiKey') return { apiKeyRequired: true };
    if (!jwt) return { authorizationType: AuthorizationType.IAM };
    return {
      authorizer: createTokenAuthorizer(this, jwt),
      authorizationType: AuthorizationType.CUSTOM,
    };
  }

  private createKey({ throttle }: EndpointApiProps): { key: IApiKey; plan: UsagePlan } {
    const key = this.api.addApiKey('Key');
    const stage = this.api.deploymentStage;
    const plan = this.api.addUsagePlan('Plan', {
      apiStages: [{ api: stage.restApi, stage }],
      ...(throttle && {
        throttle: { rateLimit: throttle.requestsPerSecond, burstLimit: throttle.burst },
      }),
    });
    plan.addApiKey(key);
    return { key, plan };
  }

  /** API Gateway's own errors (no key, too many calls, too large, too late) in the form of the container's. */
  private addGatewayErrors(corsOrigin: string | undefined): void {
    const headers = corsOrigin === undefined ? undefined : corsHeaders(corsOrigin);
    for (const type of [ResponseType.DEFAULT_4XX, ResponseType.DEFAULT_5XX]) {
      this.api.addGatewayResponse(type.responseType, {
        type,
        templates: {
          'application/json':
            '{"error":$context.error.messageString,"code":"$context.error.responseType"}',
        },
        ...(headers && { responseHeaders: headers }),
      });
    }
  }

  private createDomain({ name, certificateArn, hostedZone }: ApiDomain): DomainName {
    const domain = this.api.addDomainName('Domain', {
      domainName: name,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', certificateArn),
      endpointType: EndpointType.REGIONAL,
      securityPolicy: SecurityPolicy.TLS_1_2,
    });
    if (hostedZone) {
      new ARecord(this, 'Record', {
        zone: HostedZone.fromHostedZoneAttributes(this, 'Zone', {
          hostedZoneId: hostedZone.id,
          zoneName: hostedZone.name,
        }),
        recordName: `${name}.`,
        target: RecordTarget.fromAlias(new ApiGatewayDomain(domain)),
      });
    }
    return domain;
  }
}

/** Key of the logs: the API's own, that of the construct around it, or that of the endpoint. */
function keyOf(api: EndpointApi, { encryptionKey, endpoint }: EndpointApiProps) {
  return encryptionKey ?? encryptionKeyOf(api) ?? encryptionKeyOf(endpoint);
}
