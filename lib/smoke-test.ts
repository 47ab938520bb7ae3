/** Proves after every deployment that the endpoint serves what was deployed, rightly and fast enough. */
import { type Manifest, shortFingerprint } from '@sagemaker-tfs/manifest';
import type { IVpc } from 'aws-cdk-lib/aws-ec2';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Runtime } from 'aws-cdk-lib/aws-lambda';
import { CustomResource, Duration, Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import type { ComponentEndpoint } from './component-endpoint.ts';
import type { BoundComponent } from './components/props.ts';
import { encryptionKeyOf, setEncryptionKey } from './encryption.ts';
import type { BoundVariant } from './endpoint/variant.ts';
import { DEFAULT_INSTANCE_TYPE } from './endpoint/variant.ts';
import { isInProcess } from './image-variant.ts';
import { HOURLY_PRICES_USD, SERVERLESS_USD_PER_GB_SECOND } from './instance-types/index.ts';
import type { IModel } from './model.ts';
import { deployedWith } from './nested-stacks.ts';
import type { RealtimeEndpoint } from './realtime-endpoint.ts';
import { scaleAfterProof } from './scale-after.ts';
import { CHECK_TIMEOUT, createCheckFunction } from './smoke-test/check-function.ts';
import { checkSamples } from './smoke-test/check-samples.ts';
import { outputNames } from './smoke-test/handler/report.ts';
import {
  DEFAULT_ITERATIONS,
  type SmokeTestPlan,
  type SmokeTestSample,
  type SmokeTestVariant,
} from './smoke-test/plan.ts';
import { createSamplesLayer, SAMPLES_DIR } from './smoke-test/samples-layer.ts';
import { checkInteger, invalidProp } from './validation.ts';
import type { VpcAttachmentProps } from './vpc-attachment.ts';
import { justifyWildcard } from './wildcards.ts';

/** Props of {@link SmokeTest}. In a VPC the function needs a way to SageMaker's API and runtime. */
export interface SmokeTestProps extends VpcAttachmentProps {
  /** The endpoint to check, of the same stack, or of one nested in it or around it. */
  readonly endpoint: RealtimeEndpoint | ComponentEndpoint;
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
    checkStack(this, endpoint);
    const key = props.encryptionKey ?? encryptionKeyOf(this) ?? encryptionKeyOf(endpoint);
    setEncryptionKey(this, key);
    const asked = askedOf(endpoint);
    const { asyncFiles } = asked;
    const { iterations = asyncFiles ? 1 : DEFAULT_ITERATIONS } = props;
    checkInteger(this, 'iterations', iterations, 1, 1000);
    checkComponentNames(this, endpoint, props.samples);
    checkTargetModels(this, endpoint, props.samples);
    checkSamples(this, props.samples, asked.manifestsOf, asyncFiles !== undefined);
    const { samples, layer } = createSamplesLayer(this, Runtime.NODEJS_24_X, props.samples);
    const plan: SmokeTestPlan = {
      endpointName: endpoint.endpointName,
      endpointConfigName: endpoint.endpointConfigName,
      variants: asked.variants,
      iterations,
      samples,
      ...(asyncFiles && { asyncInputUri: asyncFiles.inputUri }),
      metricNamespace: props.metricNamespace ?? 'SageMakerTensorFlow/SmokeTest',
    };
    const { handler, role } = createCheckFunction(this, {
      description: `Smoke test of ${endpoint.endpointName}`,
      endpointArn: endpoint.endpointArn,
      endpointName: endpoint.endpointName,
      environment: { SAMPLES_DIR },
      ...(layer && { layers: [layer] }),
      ...(props.vpc && { vpc: props.vpc as IVpc }),
      ...(props.vpcSubnets && { vpcSubnets: props.vpcSubnets }),
      ...(props.securityGroups && { securityGroups: [...props.securityGroups] }),
    });
    if (props.samples.length > 0) {
      const action = asyncFiles ? 'sagemaker:InvokeEndpointAsync' : 'sagemaker:InvokeEndpoint';
      endpoint.grant(role, action);
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
    if ('scaleAfter' in endpoint) scaleAfterProof(endpoint, this.resource, 'a smoke test');
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

/** What is asked of an endpoint, and what its samples must suit. */
interface Asked {
  readonly variants: readonly SmokeTestVariant[];
  readonly asyncFiles: RealtimeEndpoint['asyncFiles'];
  readonly manifestsOf: (sample: SmokeTestSample) => Manifest[];
}

function askedOf(endpoint: RealtimeEndpoint | ComponentEndpoint): Asked {
  if ('components' in endpoint) {
    const { components } = endpoint;
    return {
      variants: components.map(planComponent),
      asyncFiles: undefined,
      manifestsOf: ({ component }) =>
        components
          .filter(({ name }) => component === undefined || component === name)
          .flatMap(({ props }) => props.model.data.manifest ?? []),
    };
  }
  const { asyncFiles, variants } = endpoint;
  return {
    variants: asyncFiles ? queueVariants(endpoint) : variants.map(planVariant),
    asyncFiles,
    manifestsOf: () => variants.slice(0, 1).flatMap(({ props }) => props.model.data.manifest ?? []),
  };
}

/**
 * Refuses an endpoint of a stack that is deployed apart. A failed check would roll back only the stack of the test, and
 * the name of the configuration, which every change renews, would be an export in use, which CloudFormation changes no more.
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-exports.html
 */
function checkStack(where: Construct, endpoint: RealtimeEndpoint | ComponentEndpoint): void {
  const [own, other] = [deployedWith(Stack.of(where)), deployedWith(endpoint.stack)];
  if (own === other) return;
  const problem = `it is in the stack ${other.node.path}, and the test in ${own.node.path}: a failed check would not roll the endpoint back`;
  invalidProp(where, 'endpoint', problem, `Create the smoke test in ${other.node.path}`);
}

/** Refuses samples for a component that there is not. */
function checkComponentNames(
  where: Construct,
  endpoint: RealtimeEndpoint | ComponentEndpoint,
  samples: readonly SmokeTestSample[],
): void {
  const names = 'components' in endpoint ? endpoint.components.map(({ name }) => name) : [];
  samples.forEach(({ component }, i) => {
    if (component === undefined || names.includes(component)) return;
    const fix = names.length > 0 ? `Known: ${names.join(', ')}` : 'Leave it out';
    invalidProp(where, `samples[${i}].component`, `there is no component '${component}'`, fix);
  });
}

/** Without a price: instances are shared, and AWS puts no price on a share. */
function planComponent({ name, componentName, props: { model } }: BoundComponent) {
  return { name, componentName, ...factsOf(model) };
}

function planVariant({ name, props }: BoundVariant): SmokeTestVariant {
  const usdPerSecond = priceOf(props);
  return { name, ...factsOf(props.model), ...(usdPerSecond !== undefined && { usdPerSecond }) };
}

function factsOf({ image, data }: IModel): Pick<SmokeTestVariant, 'fingerprint' | 'transports'> {
  return {
    ...(data.fingerprint && { fingerprint: shortFingerprint(data.fingerprint) }),
    transports: isInProcess(image.variant) ? ['in-process'] : ['rest', 'grpc'],
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

/** A key below the prefix: no address, and nothing before the first folder. */
const TARGET_MODEL = /^(?!s3:|\/)\S.{0,1023}$/;

/**
 * Refuses what SageMaker does: a request of a multi-model endpoint that names no model, and of another one that does.
 * @see https://docs.aws.amazon.com/sagemaker/latest/dg/invoke-multi-model-endpoint.html
 */
function checkTargetModels(
  where: Construct,
  endpoint: RealtimeEndpoint | ComponentEndpoint,
  samples: readonly SmokeTestSample[],
): void {
  const variants = 'components' in endpoint ? [] : endpoint.variants;
  const isMultiModel = variants.some(({ props }) => props.model.data.multiModel);
  samples.forEach(({ targetModel }, i) => {
    const isKey = targetModel !== undefined && TARGET_MODEL.test(targetModel);
    if (isMultiModel ? isKey : targetModel === undefined) return;
    const [problem, fix] = isMultiModel
      ? [
          'requests of a multi-model endpoint name their model',
          "Give its archive's key below the prefix",
        ]
      : [
          'the endpoint has one model, and SageMaker refuses a request that names one',
          'Leave it out',
        ];
    invalidProp(where, `samples[${i}].targetModel`, problem, fix);
  });
}
