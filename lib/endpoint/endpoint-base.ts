/** What endpoints made in the app and those that exist already have in common. */
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IEndpoint } from 'aws-cdk-lib/aws-sagemaker';
import { Arn, ArnFormat, Resource, type Stack, Token } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { spellings } from './default-name.ts';
import { VariantMetrics } from './metrics.ts';

/** An endpoint, made in the app or there already. */
export interface IRealtimeEndpoint extends IEndpoint {
  /** Metrics of one variant. @param variantName default of imported endpoints: 'AllTraffic' */
  variantMetrics(variantName?: string): VariantMetrics;
}

/** Actions of requests that are answered at once, whole or as a stream. */
export const INVOKE = ['sagemaker:InvokeEndpoint', 'sagemaker:InvokeEndpointWithResponseStream'];
/** Action of requests through the queue. */
export const INVOKE_ASYNC = ['sagemaker:InvokeEndpointAsync'];

/** Lets, and measures, by name and ARN alone. */
export abstract class EndpointBase extends Resource implements IRealtimeEndpoint {
  abstract readonly endpointName: string;
  abstract readonly endpointArn: string;
  /** Actions of those who may send requests. */
  protected abstract readonly invokeActions: readonly string[];

  get endpointRef() {
    return { endpointArn: this.endpointArn };
  }

  /** Lets `grantee` send requests. */
  grantInvoke(grantee: IGrantable): Grant {
    return this.grant(grantee, ...this.invokeActions);
  }

  /** Lets `grantee` do what `actions` say with this endpoint. */
  grant(grantee: IGrantable, ...actions: string[]): Grant {
    const resourceArns = spellings(this.endpointArn, this.endpointName);
    return Grant.addToPrincipal({ grantee, actions, resourceArns });
  }

  variantMetrics(variantName = 'AllTraffic'): VariantMetrics {
    return new VariantMetrics(this.endpointName, variantName);
  }
}

/** An endpoint that exists already, of whatever kind. */
export class ImportedEndpoint extends EndpointBase {
  readonly endpointName: string;
  readonly endpointArn: string;
  protected readonly invokeActions = [...INVOKE, ...INVOKE_ASYNC];

  constructor(
    scope: Construct,
    id: string,
    endpoint: { endpointName: string } | { endpointArn: string },
  ) {
    const arn = 'endpointArn' in endpoint ? endpoint.endpointArn : undefined;
    super(scope, id, arn === undefined ? {} : { environmentFromArn: arn });
    this.endpointName =
      'endpointName' in endpoint
        ? endpoint.endpointName
        : (Arn.split(endpoint.endpointArn, ArnFormat.SLASH_RESOURCE_NAME).resourceName ?? '');
    this.endpointArn = arn ?? endpointArnOf(this.stack, this.endpointName);
  }
}

/** ARN of an endpoint in the account and region of a stack. */
export function endpointArnOf(stack: Stack, endpointName: string): string {
  return stack.formatArn({
    service: 'sagemaker',
    resource: 'endpoint',
    // Policies have both spellings: `spellings`.
    resourceName: Token.isUnresolved(endpointName) ? endpointName : endpointName.toLowerCase(),
    arnFormat: ArnFormat.SLASH_RESOURCE_NAME,
  });
}
