/** Proves after every deployment that the endpoint serves what was deployed, rightly and fast enough. */
import { shortFingerprint } from '@sagemaker-tfs/manifest';
import type { IVpc } from 'aws-cdk-lib/aws-ec2';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Runtime } from 'aws-cdk-lib/aws-lambda';
import { CustomResource, Duration, Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { encryptionKeyOf, setEncryptionKey } from '../encryption.ts';
import type { BoundVariant } from '../endpoint/variant.ts';
import { DEFAULT_INSTANCE_TYPE } from '../endpoint/variant.ts';
import { HOURLY_PRICES_USD, SERVERLESS_USD_PER_GB_SECOND } from '../instance-types/index.ts';
import type { RealtimeEndpoint } from '../realtime-endpoint.ts';
import { checkInteger, invalidProp } from '../validation.ts';
import type { VpcAttachmentProps } from '../vpc-attachment.ts';
import { justifyWildcard } from '../wildcards.ts';
import { CHECK_TIMEOUT, createCheckFunction } from './check-function.ts';
import { checkSamples } from './check-samples.ts';
import { outputNames } from './handler/report.ts';
import {
  DEFAULT_ITERATIONS,
  type SmokeTestPlan,
  type SmokeTestSample,
  type SmokeTestVariant,
} from './plan.ts';
import { createSamplesLayer, SAMPLES_DIR } from './samples-layer.ts';

/** Props of {@link SmokeTest}. In a VPC the function needs a way to SageMaker's API and runtime. */
export interface SmokeTestProps extends VpcAttachmentProps {
  /** The endpoint to check. */
  readonly endpoint: RealtimeEndpoint;
  /**
   * Requests to send, with what their answers must be. Without any, only the state of the endpoint is
   * checked.
   */
  readonly samples: readonly SmokeTestSample[];
  /**
   * Calls of each sample to each variant over each transport, 1-1000.
   * @default 100, and 1 of an asynchronous endpoint
   */
  readonly iterations?: number;
  /**
   * CloudWatch namespace of the measured latencies.
   * @default 'SageMakerTensorFlow/SmokeTest'
   */
  readonly metricNamespace?: string;
  /**
   * Key of the function's logs.
   * @default - the key of the stack, or of the endpoint, or AWS's own key
   */
  readonly encryptionKey?: IKey;
}

/**
 * Runs after every change of model, image, handler or configuration. A failed check fails the
 * deployment, and CloudFormation goes back to what was there before.
 */
export class SmokeTest extends Construct {
  /** Names of the figures that {@link result} knows. */
  readonly resultNames: readonly string[];
  private readonly resource: CustomResource;

  constructor(scope: Construct, id: string, props: SmokeTestProps) {
    super(scope, id);
    const { endpoint } = props;
    if (!endpoint.enabled) {
      const fix = 'Add the smoke test where the endpoint is enabled';
      invalidProp(this, 'endpoint', 'it is not enabled, and answers nothing', fix);
    }
    const key = props.encryptionKey ?? encryptionKeyOf(this) ?? encryptionKeyOf(endpoint);
    setEncryptionKey(this, key);
    const { asyncFiles } = endpoint;
    const { iterations = asyncFiles ? 1 : DEFAULT_ITERATIONS } = props;
    checkInteger(this, 'iterations', iterations, 1, 1000);
    const data = endpoint.variants[0]?.props.model.data;
    checkSamples(this, props.samples, data?.manifest, endpoint.isAsync);
    const { samples, layer } = createSamplesLayer(this, Runtime.NODEJS_24_X, props.samples);
    const plan: SmokeTestPlan = {
      endpointName: endpoint.endpointName,
      endpointConfigName: endpoint.endpointConfigName,
      variants: asyncFiles ? queueVariants(endpoint) : endpoint.variants.map(planVariant),
      iterations,
      samples,
      ...(asyncFiles && { asyncInputUri: asyncFiles.inputUri }),
      metricNamespace: props.metricNamespace ?? 'SageMakerTensorFlow/SmokeTest',
    };
    const { handler, role } = createCheckFunction(this, {
      description: `Smoke test of ${endpoint.endpointName}`,
      endpointArn: endpoint.endpointArn,
      environment: { SAMPLES_DIR },
      ...(layer && { layers: [layer] }),
      ...(props.vpc && { vpc: props.vpc as IVpc }),
      ...(props.vpcSubnets && { vpcSubnets: props.vpcSubnets }),
      ...(props.securityGroups && { securityGroups: [...props.securityGroups] }),
    });
    if (props.samples.length > 0) {
      const action = asyncFiles ? 'sagemaker:InvokeEndpointAsync' : 'sagemaker:InvokeEndpoint';
      role.addToPolicy(
        new PolicyStatement({ actions: [action], resources: [endpoint.endpointArn] }),
      );
      asyncFiles?.grantReadWrite(role);
    }
    if (props.vpc) {
      role.addToPolicy(networkInterfaces());
      justifyWildcard(role, '*', 'Lambda checks leave to join a VPC against all interfaces');
    }
    const transports = new Set(plan.variants.flatMap((variant) => variant.transports));
    this.resultNames = [...transports].flatMap((transport) => outputNames(transport));
    this.resource = new CustomResource(this, 'Resource', {
      resourceType: 'Custom::SageMakerSmokeTest',
      serviceToken: handler.functionArn,
      serviceTimeout: CHECK_TIMEOUT.plus(Duration.minutes(1)),
      properties: { Plan: Stack.of(this).toJsonString(plan) },
    });
    this.resource.node.addDependency(endpoint.deployment, role);
  }

  /** A measured figure, averaged over samples and variants: `GrpcMeanMs`, `RestP95Ms`, `GrpcColdMs`. */
  result(name: string): string {
    return this.resource.getAttString(name);
  }
}

/** What Lambda needs to join a VPC; it checks these against all network interfaces. */
function networkInterfaces(): PolicyStatement {
  return new PolicyStatement({
    sid: 'JoinVpc',
    actions: [
      'ec2:AssignPrivateIpAddresses',
      'ec2:CreateNetworkInterface',
      'ec2:DeleteNetworkInterface',
      'ec2:DescribeNetworkInterfaces',
      'ec2:DescribeSubnets',
      'ec2:UnassignPrivateIpAddresses',
    ],
    resources: ['*'],
  });
}

function planVariant({ name, props }: BoundVariant): SmokeTestVariant {
  const { image, data } = props.model;
  const usdPerSecond = priceOf(props);
  return {
    name,
    ...(data.fingerprint && { fingerprint: shortFingerprint(data.fingerprint) }),
    transports: image.variant === 'in-process' ? ['in-process'] : ['rest', 'grpc'],
    ...(usdPerSecond !== undefined && { usdPerSecond }),
  };
}

/**
 * The variants of a queue, as one: a request cannot name one, an answer does not say which model gave it, and
 * the time in the queue is nobody's price.
 */
function queueVariants({ variants }: RealtimeEndpoint): SmokeTestVariant[] {
  const planned = variants.map(planVariant);
  const transports = [...new Set(planned.flatMap((variant) => variant.transports))];
  return [{ name: planned.map(({ name }) => name).join('+'), transports }];
}

function priceOf({ serverless, instanceType = DEFAULT_INSTANCE_TYPE }: BoundVariant['props']) {
  if (serverless) return (serverless.memory.toMebibytes() / 1024) * SERVERLESS_USD_PER_GB_SECOND;
  const hourly = HOURLY_PRICES_USD[instanceType];
  return hourly === undefined ? undefined : hourly / 3600;
}
