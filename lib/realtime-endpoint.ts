/** A SageMaker endpoint: variants, autoscaling, guarded updates, capture, asynchronous or serverless. */
import {
  Alarm,
  ComparisonOperator,
  type IAlarm,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Grant, type IGrantable, Policy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { CfnEndpoint, CfnEndpointConfig } from 'aws-cdk-lib/aws-sagemaker';
import { ArnFormat, Names, Stack, Token } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { encryptionKeyOf, setEncryptionKey } from './encryption.ts';
import { type AsyncFiles, asyncFiles, renderAsyncInference } from './endpoint/async-inference.ts';
import { addScaling } from './endpoint/autoscaling.ts';
import { checkCombination, takesVolumeKey } from './endpoint/combinations.ts';
import { renderDataCapture } from './endpoint/data-capture.ts';
import { checkDeployed } from './endpoint/deployed.ts';
import { type DeploymentProps, renderDeployment } from './endpoint/deployment.ts';
import { QueueMetrics, VariantMetrics } from './endpoint/metrics.ts';
import { renderMetricsConfig } from './endpoint/metrics-config.ts';
import type { RealtimeEndpointProps } from './endpoint/props.ts';
import { type BoundVariant, bindVariant } from './endpoint/variant.ts';
import { invalidProp } from './validation.ts';

/** An endpoint that exists already. */
export interface IRealtimeEndpoint {
  readonly endpointName: string;
  readonly endpointArn: string;
  /** Lets `grantee` send requests. */
  grantInvoke(grantee: IGrantable): Grant;
}

/** Actions of requests that are answered at once, whole or as a stream. */
const INVOKE = ['sagemaker:InvokeEndpoint', 'sagemaker:InvokeEndpointWithResponseStream'];
/** Action of requests through the queue. */
const INVOKE_ASYNC = ['sagemaker:InvokeEndpointAsync'];

function grantInvoke(
  grantee: IGrantable,
  endpointArn: string,
  actions: readonly string[] = [...INVOKE, ...INVOKE_ASYNC],
): Grant {
  return Grant.addToPrincipal({ grantee, actions: [...actions], resourceArns: [endpointArn] });
}

/** Props with the one key where no other is named, and where SageMaker takes one. */
function withKeys(scope: Construct, props: RealtimeEndpointProps): RealtimeEndpointProps {
  const key = encryptionKeyOf(scope);
  if (!key) return props;
  const { asyncInference, dataCapture, volumeKey } = props;
  return {
    ...props,
    ...(takesVolumeKey(props) && { volumeKey: volumeKey ?? key }),
    ...(asyncInference && { asyncInference: { encryptionKey: key, ...asyncInference } }),
    ...(dataCapture && { dataCapture: { encryptionKey: key, ...dataCapture } }),
  };
}

/** A real-time, asynchronous or serverless endpoint. */
export class RealtimeEndpoint extends Construct implements IRealtimeEndpoint {
  /** An endpoint by its name, in the account and region of `scope`'s stack. */
  static fromEndpointName(scope: Construct, endpointName: string): IRealtimeEndpoint {
    const endpointArn = arnOf(Stack.of(scope), endpointName);
    return { endpointName, endpointArn, grantInvoke: (to) => grantInvoke(to, endpointArn) };
  }

  readonly endpointName: string;
  readonly endpointArn: string;
  /** Production variants, in the order given. */
  readonly variants: readonly BoundVariant[];
  readonly shadowVariant: BoundVariant | undefined;
  /** Whether requests go through a queue. */
  readonly isAsync: boolean;
  /** Where requests and answers of an asynchronous endpoint lie; undefined for others. */
  readonly asyncFiles: AsyncFiles | undefined;
  /** Alarms that roll an update back. */
  readonly rollbackAlarms: readonly IAlarm[];
  private readonly config: CfnEndpointConfig;
  private readonly resource: CfnEndpoint;
  private readonly deployed: Construct;

  constructor(scope: Construct, id: string, own: RealtimeEndpointProps) {
    super(scope, id);
    setEncryptionKey(this, own.encryptionKey);
    checkCombination(this, own);
    const props = withKeys(this, own);
    this.endpointName =
      props.endpointName ?? Names.uniqueResourceName(this, { maxLength: 63, separator: '-' });
    this.endpointArn = arnOf(Stack.of(this), this.endpointName);
    this.isAsync = props.asyncInference !== undefined;
    this.asyncFiles = props.asyncInference && asyncFiles(props.asyncInference);
    this.variants = props.variants.map((variant, i) =>
      bindVariant(this, `variants[${i}]`, variant, props.variants.length === 1),
    );
    this.shadowVariant =
      props.shadowVariant && bindVariant(this, 'shadowVariant', props.shadowVariant, false);
    this.config = this.createConfig(props);
    this.rollbackAlarms = this.createRollbackAlarms(props.deployment ?? {});
    this.resource = this.createEndpoint(props);
    this.resource.node.addDependency(...this.allowRollback());
    this.addAutoscaling();
    this.deployed = checkDeployed(this, {
      endpoint: this.resource,
      endpointName: this.endpointName,
      endpointArn: this.endpointArn,
      endpointConfigName: this.endpointConfigName,
    });
  }

  /** Name that CloudFormation gave the configuration; another after every change. */
  get endpointConfigName(): string {
    return this.config.attrEndpointConfigName;
  }

  grantInvoke(grantee: IGrantable): Grant {
    return grantInvoke(grantee, this.endpointArn, this.isAsync ? INVOKE_ASYNC : INVOKE);
  }

  /** Metrics of a production or shadow variant. @param variantName default: the first */
  metrics(variantName: string = this.variants[0]?.name ?? ''): VariantMetrics {
    const known = this.allVariants().map(({ name }) => name);
    if (!known.includes(variantName)) {
      invalidProp(this, 'variantName', `no variant '${variantName}'`, `Known: ${known.join(', ')}`);
    }
    return new VariantMetrics(this.endpointName, variantName);
  }

  /** Metrics of the queue of an asynchronous endpoint. */
  queueMetrics(): QueueMetrics {
    return new QueueMetrics(this.endpointName);
  }

  /** The endpoint itself. */
  get endpoint(): CfnEndpoint {
    return this.resource;
  }

  /**
   * What to depend on to come after the endpoint: the check that it runs the configuration deployed. It
   * fails the deployment where SageMaker went back to the old one, and CloudFormation then keeps that.
   */
  get deployment(): Construct {
    return this.deployed;
  }

  private allVariants(): BoundVariant[] {
    return [...this.variants, ...(this.shadowVariant ? [this.shadowVariant] : [])];
  }

  private createConfig(props: RealtimeEndpointProps): CfnEndpointConfig {
    const models = [...new Set(this.allVariants().map((variant) => variant.props.model))];
    for (const model of models) {
      model.allowLogging(`/aws/sagemaker/Endpoints/${this.endpointName}`);
      props.volumeKey?.grantEncryptDecrypt(model);
    }
    const { asyncInference, dataCapture, metricsConfig, volumeKey } = props;
    return new CfnEndpointConfig(this, 'Config', {
      productionVariants: this.variants.map(({ rendered }) => rendered),
      ...(this.shadowVariant && { shadowProductionVariants: [this.shadowVariant.rendered] }),
      ...(asyncInference && {
        asyncInferenceConfig: renderAsyncInference(this, asyncInference, models),
      }),
      ...(dataCapture && { dataCaptureConfig: renderDataCapture(this, dataCapture, models) }),
      ...(metricsConfig && { metricsConfig: renderMetricsConfig(this, metricsConfig) }),
      ...(volumeKey && { kmsKeyId: volumeKey.keyArn }),
    });
  }

  private createEndpoint(props: RealtimeEndpointProps): CfnEndpoint {
    const scaled = this.variants.some((variant) => variant.props.scaling);
    const guarded = this.variants.every(({ props: variant }) => !variant.serverless);
    const fleets = {
      variants: this.variants.length,
      fewestInstances: Math.min(
        ...this.variants.map(({ instanceCount, props: { scaling } }) =>
          Math.min(instanceCount, scaling ? (scaling.minInstances ?? 1) : instanceCount),
        ),
      ),
    };
    return new CfnEndpoint(this, 'Resource', {
      endpointName: this.endpointName,
      endpointConfigName: this.endpointConfigName,
      ...(guarded && {
        deploymentConfig: renderDeployment(
          this,
          props.deployment ?? {},
          fleets,
          this.rollbackAlarms,
        ),
      }),
      // Keeps the instance count that autoscaling chose, and nothing else of the old configuration.
      ...(scaled && {
        retainAllVariantProperties: true,
        excludeRetainedVariantProperties: [
          { variantPropertyType: 'DesiredWeight' },
          { variantPropertyType: 'DataCaptureConfig' },
        ],
      }),
    });
  }

  private createRollbackAlarms(deployment: DeploymentProps): IAlarm[] {
    const instances = this.variants.filter(({ props }) => !props.serverless);
    const own = instances.flatMap(({ name }) => {
      const scope = new Construct(this, `Rollback${name}`);
      // Of the new fleet alone. An alarm that also counts the old fleet's errors would end the very update
      // that mends them.
      // https://docs.aws.amazon.com/sagemaker/latest/dg/deployment-guardrails-configuration.html
      const newFleet = new VariantMetrics(this.endpointName, name, this.endpointConfigName);
      return rollbackAlarms(scope, newFleet, name, deployment);
    });
    return [...own, ...(deployment.rollbackAlarms ?? [])];
  }

  /**
   * The models' roles may read the alarms that roll an update back, which SageMaker asks of them.
   * @see https://docs.aws.amazon.com/sagemaker/latest/dg/deployment-guardrails-configuration.html
   */
  private allowRollback(): Policy[] {
    if (this.rollbackAlarms.length === 0) return [];
    const roles = new Set(this.allVariants().map((variant) => variant.props.model.role));
    // Not in the roles' own policies: those come before the models, and so before the alarms.
    const policy = new Policy(this, 'ReadRollbackAlarms', {
      roles: [...roles],
      statements: [
        new PolicyStatement({
          actions: ['cloudwatch:DescribeAlarms'],
          // By name, as the deployment names them: in the endpoint's own account and region.
          resources: this.rollbackAlarms.map(({ alarmName }) =>
            Stack.of(this).formatArn({
              service: 'cloudwatch',
              resource: 'alarm',
              resourceName: alarmName,
              arnFormat: ArnFormat.COLON_RESOURCE_NAME,
            }),
          ),
        }),
      ],
    });
    return [policy];
  }

  private addAutoscaling(): void {
    for (const { name, props } of this.variants) {
      if (!props.scaling) continue;
      const scope = new Construct(this, `Scaling${name}`);
      addScaling(scope, this.endpointName, name, props.scaling);
      scope.node.addDependency(this.resource);
    }
  }
}

function arnOf(stack: Stack, endpointName: string): string {
  return stack.formatArn({
    service: 'sagemaker',
    resource: 'endpoint',
    // IAM compares ARNs by letter case, and SageMaker writes endpoint names in lower case.
    resourceName: Token.isUnresolved(endpointName) ? endpointName : endpointName.toLowerCase(),
    arnFormat: ArnFormat.SLASH_RESOURCE_NAME,
  });
}

function rollbackAlarms(
  scope: Construct,
  metrics: VariantMetrics,
  variantName: string,
  deployment: DeploymentProps,
): Alarm[] {
  const alarms = [
    new Alarm(scope, 'ServerErrors', {
      alarmDescription: `Variant ${variantName} answers with 5xx: an update is rolled back`,
      metric: metrics.serverErrors(),
      threshold: deployment.serverErrorsPerMinute ?? 5,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    }),
  ];
  if (deployment.modelLatencyP90) {
    alarms.push(
      new Alarm(scope, 'ModelLatency', {
        alarmDescription: `Variant ${variantName} is slow: an update is rolled back`,
        metric: metrics.modelLatency(),
        threshold: deployment.modelLatencyP90.toMilliseconds() * 1000,
        evaluationPeriods: 3,
        treatMissingData: TreatMissingData.NOT_BREACHING,
      }),
    );
  }
  return alarms;
}
