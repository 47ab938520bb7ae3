/** A SageMaker endpoint: variants, autoscaling, guarded updates, capture, asynchronous or serverless. */
import { CfnAlarm, type IAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { CfnEndpoint, CfnEndpointConfig, type CfnEndpointProps } from 'aws-cdk-lib/aws-sagemaker';
import { Annotations, Aspects, Lazy, Stack, Token } from 'aws-cdk-lib/core';
import { Construct, Dependable } from 'constructs';
import { encryptionKeyOf, grantFormerKeys, setEncryptionKey, setFormerKeys } from './encryption.ts';
import { type AsyncFiles, asyncFiles, renderAsyncInference } from './endpoint/async-inference.ts';
import { addScaling, checkScaling, type ScalingProps } from './endpoint/autoscaling.ts';
import {
  checkCombination,
  takesVolumeKey,
  warnOfVolumesWithoutKey,
} from './endpoint/combinations.ts';
import { renderDataCapture } from './endpoint/data-capture.ts';
import { defaultName, MAX_ENDPOINT_NAME } from './endpoint/default-name.ts';
import {
  checkTraffic,
  type DeploymentProps,
  renderDeployment,
  type TrafficShift,
} from './endpoint/deployment.ts';
import {
  EndpointBase,
  endpointArnOf,
  ImportedEndpoint,
  INVOKE,
  INVOKE_ASYNC,
  type IRealtimeEndpoint,
} from './endpoint/endpoint-base.ts';
import { DEFAULT_LOG_RETENTION, endpointLogGroup, keepLogs } from './endpoint/log-group.ts';
import { QueueMetrics, VariantMetrics } from './endpoint/metrics.ts';
import { renderMetricsConfig } from './endpoint/metrics-config.ts';
import { renewWith } from './endpoint/new-config.ts';
import type { RealtimeEndpointProps } from './endpoint/props.ts';
import { allowRollback, rollbackAlarms } from './endpoint/rollback-alarms.ts';
import {
  type BoundVariant,
  bindVariant,
  instanceTypesOf,
  requireModels,
} from './endpoint/variant.ts';
import type { IModel } from './model.ts';
import { keepReplaced } from './model-retention.ts';
import { allowLogging } from './model-role.ts';
import { type MetricPeriods, metricPeriods } from './rules/metric-periods.ts';
import { fewestAtAnyTime } from './rules/scaling-schedule.ts';
import { warnOfRareRequests } from './scaling-policies.ts';
import { checkDeployed } from './smoke-test/deployed.ts';
import { warnOfExport, warnOfImporters } from './stack-references.ts';
import { invalidProp } from './validation.ts';

/** Props with the one key, unless another is named or SageMaker takes none. */
function withKeys(scope: Construct, props: RealtimeEndpointProps): RealtimeEndpointProps {
  const key = encryptionKeyOf(scope);
  if (!key) return props;
  const { asyncInference, dataCapture, volumeKey } = props;
  warnOfVolumesWithoutKey(scope, props);
  return {
    ...props,
    ...(takesVolumeKey(props) && { volumeKey: volumeKey ?? key }),
    ...(asyncInference && { asyncInference: { encryptionKey: key, ...asyncInference } }),
    ...(dataCapture && { dataCapture: { encryptionKey: key, ...dataCapture } }),
  };
}

/**
 * A name that is another for each kind of endpoint. An endpoint keeps its kind for life: SageMaker refuses an
 * update from instances to serverless, and one that takes the queue away. Under another name it is replaced.
 * @see https://docs.aws.amazon.com/sagemaker/latest/dg/serverless-endpoints-update-delete.html
 * @see https://github.com/aws/sagemaker-python-sdk/pull/3124
 */
function nameOf(scope: Construct, props: RealtimeEndpointProps): string {
  const serverless = props.variants.some((variant) => variant.serverless) && '-serverless';
  const suffix = serverless || (props.asyncInference && '-async') || '';
  return defaultName(scope, MAX_ENDPOINT_NAME, suffix);
}

/** Models of a variant: its own, and those of its pools. */
function modelsOf({ props: { model, instancePools = [] } }: BoundVariant): IModel[] {
  return [model, ...instancePools.flatMap((pool) => pool.model ?? [])];
}

/**
 * What an update takes from the new configuration although instance counts are kept. AWS lists `DataCaptureConfig` too, as
 * 'Not currently supported': naming it could refuse every update.
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-sagemaker-endpoint-variantproperty.html
 */
const NOT_RETAINED = [{ variantPropertyType: 'DesiredWeight' }];

/** Name that an alarm of the app was given: another name is another alarm, under the same logical id. */
function givenName(alarm: IAlarm): unknown {
  const { defaultChild } = alarm.node;
  return defaultChild instanceof CfnAlarm ? defaultChild.alarmName : undefined;
}

/** A real-time, asynchronous or serverless endpoint. */
export class RealtimeEndpoint extends EndpointBase {
  /** An endpoint by its name, in the account and region of `scope`'s stack. */
  static fromEndpointName(scope: Construct, id: string, endpointName: string): IRealtimeEndpoint {
    return new ImportedEndpoint(scope, id, { endpointName });
  }

  /**
   * An endpoint by its ARN, in any account and region. ARNs may have names in lower case: metrics of an endpoint
   * with capitals need {@link RealtimeEndpoint.fromEndpointName}.
   */
  static fromEndpointArn(scope: Construct, id: string, endpointArn: string): IRealtimeEndpoint {
    return new ImportedEndpoint(scope, id, { endpointArn });
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
  /** False keeps everything but the endpoint. */
  readonly enabled: boolean;
  /** Whether the configuration asks SageMaker for the metrics of the container's `/metrics`. */
  readonly detailedMetrics: boolean;
  /** Whether requests or answers are captured. */
  readonly capturesData: boolean;
  /** Key that captures are under, beside that of their bucket; undefined without one. */
  readonly captureKey: IKey | undefined;
  /** Seconds of the shortest periods in which the variants' metrics have a point. */
  readonly metricPeriods: MetricPeriods;
  /** Alarms that roll an update back. */
  readonly rollbackAlarms: readonly IAlarm[];
  protected readonly invokeActions: readonly string[];
  private readonly traffic: TrafficShift;
  /** Names of the variants that autoscaling watches. */
  private readonly scaled = new Set<string>();
  /** What registers them. */
  private readonly scaling: Construct[] = [];
  /** Checks, and what else comes before. */
  private readonly proofs: Construct[] = [];
  private readonly config: CfnEndpointConfig;
  private readonly resource: CfnEndpoint | undefined;
  private readonly deployed: Construct;

  constructor(scope: Construct, id: string, own: RealtimeEndpointProps) {
    super(scope, id, own.endpointName === undefined ? {} : { physicalName: own.endpointName });
    requireModels(this, own);
    setEncryptionKey(this, own.encryptionKey);
    setFormerKeys(this, own.formerEncryptionKeys);
    checkCombination(this, own);
    const props = withKeys(this, own);
    this.endpointName = props.endpointName ?? nameOf(this, props);
    this.endpointArn = endpointArnOf(Stack.of(this), this.endpointName);
    this.enabled = props.enabled ?? true;
    this.isAsync = props.asyncInference !== undefined;
    this.capturesData = props.dataCapture !== undefined;
    this.captureKey = props.dataCapture?.encryptionKey;
    this.detailedMetrics = props.metricsConfig?.detailed === true;
    this.metricPeriods = metricPeriods(props.metricsConfig);
    this.invokeActions = this.isAsync ? INVOKE_ASYNC : INVOKE;
    this.traffic = props.deployment?.traffic ?? { type: 'all-at-once' };
    this.asyncFiles = props.asyncInference && asyncFiles(this, props.asyncInference);
    this.variants = props.variants.map((variant, i) =>
      bindVariant(this, `variants[${i}]`, variant, props.variants.length === 1),
    );
    this.shadowVariant =
      props.shadowVariant && bindVariant(this, 'shadowVariant', props.shadowVariant, false);
    this.config = this.createConfig(props);
    warnOfImporters(this, 'endpointConfigName', this.endpointConfigName, 'the endpoint');
    this.rollbackAlarms = this.createRollbackAlarms(props.deployment ?? {});
    const logGroup = endpointLogGroup(this.endpointName);
    const logs = keepLogs(this, logGroup, props.logRetention ?? DEFAULT_LOG_RETENTION);
    const roles = this.allVariants()
      .flatMap(modelsOf)
      .flatMap(({ role }) => role ?? []);
    const permissions = allowRollback(this, this.rollbackAlarms, new Set(roles));
    this.warnOfReservations();
    this.resource = this.createEndpoint(props);
    this.resource?.node.addDependency(...permissions, logs);
    this.leaveOutScaling();
    for (const { name, props } of this.variants) {
      if (props.scaling) this.autoScaleInstanceCount(props.scaling, name);
    }
    // When all is known: variants may be scaled by a call later.
    Aspects.of(this).add({ visit: (node) => node === this && this.warnOfFixedCounts() });
    this.deployed = this.resource
      ? checkDeployed(this, {
          endpoint: this.resource,
          endpointName: this.endpointName,
          endpointArn: this.endpointArn,
          endpointConfigName: this.endpointConfigName,
        })
      : this.config;
    if (this.resource) this.scaleAfter(this.deployed);
  }

  /** Name that CloudFormation gave the configuration; another after every change. */
  get endpointConfigName(): string {
    return this.config.attrEndpointConfigName;
  }

  /** Metrics of a production or shadow variant. @param variantName default: the first */
  override variantMetrics(variantName: string = this.variants[0]?.name ?? ''): VariantMetrics {
    const { name } = this.findVariant(variantName);
    return super.variantMetrics(name);
  }

  /** Metrics of the queue of an asynchronous endpoint. */
  queueMetrics(): QueueMetrics {
    return new QueueMetrics(this.endpointName);
  }

  /** The endpoint itself. @throws if it is not enabled */
  get endpoint(): CfnEndpoint {
    if (this.resource) return this.resource;
    return invalidProp(this, 'enabled', 'there is no endpoint', 'Leave it out, or give true');
  }

  /**
   * What to depend on to come after the endpoint: the check that it runs the configuration deployed. It
   * fails the deployment if SageMaker went back to the old one, and CloudFormation then keeps that.
   */
  get deployment(): Construct {
    return this.deployed;
  }

  /**
   * Lets the number of a variant's instances follow its load, as the variant's `scaling` does.
   * @param variantName default: the first
   */
  autoScaleInstanceCount(scaling: ScalingProps, variantName?: string): void {
    const variant = this.findVariant(variantName ?? this.variants[0]?.name ?? '');
    const { name, instanceCount, props } = variant;
    const refuse = (problem: string, fix: string) => invalidProp(this, 'scaling', problem, fix);
    if (this.scaled.has(name)) refuse(`'${name}' scales already`, 'Give its limits once');
    if (props.serverless) refuse(`'${name}' is serverless`, 'Leave it out, or use instances');
    if (variant === this.shadowVariant) refuse('a shadow cannot scale', 'Name another variant');
    const where = props.scaling ? `variants[${this.variants.indexOf(variant)}].scaling` : 'scaling';
    checkScaling(this, where, scaling, this.isAsync, instanceTypesOf(props));
    const fewestInstances = Math.min(instanceCount, fewestAtAnyTime(scaling));
    checkTraffic(this, this.traffic, { variants: this.variants.length, fewestInstances });
    // The queue's metrics are no requests.
    if (!this.isAsync) warnOfRareRequests(this, this.metricPeriods);
    this.scaled.add(name);
    if (scaling.registered === false && fewestAtAnyTime(scaling) === 0) this.warnOfSleep(name);
    if (scaling.registered === false || !this.resource) return;
    const scope = new Construct(this, `Scaling${name}`);
    addScaling(scope, this.endpointName, name, scaling);
    this.scaling.push(scope);
    scope.node.addDependency(this.resource, ...this.proofs);
  }

  /** Whether Application Auto Scaling watches a variant. */
  get isScaled(): boolean {
    return this.scaling.length > 0;
  }

  /**
   * Lets autoscaling begin after a check, or after another resource that CloudFormation makes once the endpoint is there: name
   * all that depend on {@link deployment}. While a variant is registered, SageMaker refuses another instance type of it and
   * its removal, and a rollback takes away what is new only at its end: if the resource fails with the variant registered,
   * the rollback of the endpoint stops. {@link SmokeTest} and {@link EndpointApi} in the stack of the endpoint, or in one that is nested in it, are named already.
   * @see https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-scaling-update.html
   * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html
   */
  scaleAfter(proof: Construct): void {
    this.proofs.push(proof);
    for (const scope of this.scaling) scope.node.addDependency(proof);
  }

  /** What depends on the endpoint may be a proof, and autoscaling comes after those: it is no part of what they wait for. */
  private leaveOutScaling(): void {
    const { node, scaling } = this;
    Dependable.implement(this, {
      get dependencyRoots() {
        return node.children.filter((child) => !scaling.some((scope) => scope === child));
      },
    });
  }

  /**
   * Beside a scaled variant an update keeps the instance counts of all of them.
   * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_UpdateEndpoint.html (RetainAllVariantProperties)
   */
  private warnOfFixedCounts(): void {
    const fixed = this.variants.filter(({ name }) => !this.scaled.has(name));
    if (!this.keepsCounts() || fixed.length === 0) return;
    Annotations.of(this).addWarningV2(
      '@sagemaker-tfs/cdk:fixedBesideScaled',
      `variants: ${fixed.map(({ name }) => `'${name}'`).join(', ')} has no scaling beside a variant that has. Updates then keep the instance counts of all variants, so a change of its instanceCount has no effect. Give it scaling too, with minInstances and maxInstances alike for a fixed number`,
    );
  }

  /**
   * Taking the target away changes no capacity, and it is what starts the first instance.
   * @see https://docs.aws.amazon.com/sagemaker/latest/dg/async-inference-autoscale.html
   */
  private warnOfSleep(variant: string): void {
    const name = Token.isUnresolved(this.endpointName) ? 'NAME' : this.endpointName;
    Annotations.of(this).addWarningV2(
      '@sagemaker-tfs/cdk:unregisteredAsleep',
      `scaling: '${variant}' may have no instances, and with 'registered: false' nothing starts one: if it sleeps during this deployment, requests wait in the queue until they expire. Wake it afterwards with 'aws sagemaker update-endpoint-weights-and-capacities --endpoint-name ${name} --desired-weights-and-capacities VariantName=${variant},DesiredInstanceCount=1', and keep the time until the next deployment short`,
    );
  }

  /**
   * A second fleet has no instances but those that the reservation has left.
   * @see https://docs.aws.amazon.com/sagemaker/latest/dg/deployment-guardrails-blue-green.html
   * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ProductionVariantCapacityReservationSummary.html
   */
  private warnOfReservations(): void {
    const reserved = this.allVariants().filter(({ props }) => props.capacityReservationArn);
    if (this.traffic.type === 'rolling' || reserved.length === 0) return;
    Annotations.of(this).addWarningV2(
      '@sagemaker-tfs/cdk:fleetsOfReservation',
      `variants: ${reserved.map(({ name }) => `'${name}'`).join(', ')} runs on the instances of a reservation alone, and every update starts a second fleet beside the first: without as many free instances in the reservation it fails. Reserve twice as many, or use a 'rolling' deployment, which needs those of one step`,
    );
  }

  private findVariant(name: string): BoundVariant {
    const all = this.allVariants();
    const known = all.map((variant) => variant.name).join(', ');
    return (
      all.find((variant) => variant.name === name) ??
      invalidProp(this, 'variantName', `no variant '${name}'`, `Known: ${known}`)
    );
  }

  private allVariants(): BoundVariant[] {
    return [...this.variants, ...(this.shadowVariant ? [this.shadowVariant] : [])];
  }

  private createConfig(props: RealtimeEndpointProps): CfnEndpointConfig {
    const models = [...new Set(this.allVariants().flatMap(modelsOf))];
    warnOfExport(this, models);
    const known = models.filter(({ role }) => role !== undefined);
    for (const model of known) {
      // CloudFormation would delete it with its own stack's deployment, before this one's.
      if (model.stack !== this.stack) keepReplaced(model);
      if (model.role) allowLogging(model.role, endpointLogGroup(this.endpointName));
      props.volumeKey?.grantEncryptDecrypt(model);
      grantFormerKeys(this, model);
    }
    this.noteOfUnknownRoles(models.filter(({ role }) => role === undefined));
    const { asyncInference, dataCapture, metricsConfig, volumeKey } = props;
    return new CfnEndpointConfig(this, 'Config', {
      productionVariants: this.variants.map(({ rendered }) => rendered),
      ...(this.shadowVariant && { shadowProductionVariants: [this.shadowVariant.rendered] }),
      ...(asyncInference && {
        asyncInferenceConfig: renderAsyncInference(this, asyncInference, known),
      }),
      ...(dataCapture && { dataCaptureConfig: renderDataCapture(this, dataCapture, known) }),
      ...(metricsConfig && { metricsConfig: renderMetricsConfig(this, metricsConfig) }),
      ...(volumeKey && { kmsKeyId: volumeKey.keyArn }),
    });
  }

  private noteOfUnknownRoles(models: readonly IModel[]): void {
    if (models.length === 0) return;
    const names = models.map(({ modelName }) => modelName).join(', ');
    Annotations.of(this).addInfo(
      `variants: the role of ${names} is not known, so nothing is granted to it. It needs permission to write the logs ${endpointLogGroup(this.endpointName)}, and to use the buckets, topics and keys of the endpoint`,
    );
  }

  private createEndpoint(own: RealtimeEndpointProps): CfnEndpoint | undefined {
    const guarded = this.variants.every(({ props: variant }) => !variant.serverless);
    const instances = this.variants.map(({ instanceCount }) => instanceCount);
    const fleets = { variants: this.variants.length, fewestInstances: Math.min(...instances) };
    const deployment = own.deployment ?? {};
    const props: CfnEndpointProps = {
      endpointName: this.endpointName,
      endpointConfigName: this.endpointConfigName,
      ...(guarded && {
        deploymentConfig: renderDeployment(
          this,
          deployment,
          fleets,
          this.rollbackAlarms,
          this.metricPeriods,
        ),
      }),
      // Keeps the instance count that autoscaling chose, and nothing else of the old configuration.
      retainAllVariantProperties: Lazy.any({ produce: () => this.keepsCounts() }),
      excludeRetainedVariantProperties: Lazy.any({
        produce: () => (this.keepsCounts() ? NOT_RETAINED : undefined),
      }),
    };
    const endpoint = this.enabled ? new CfnEndpoint(this, 'Resource', props) : undefined;
    renewWith(this.config, { endpoint, props, names: () => this.rollbackAlarms.map(givenName) });
    return endpoint;
  }

  /**
   * Whether an update keeps the instance counts. Not of an asynchronous endpoint: it may sleep now, whatever its new
   * limits are, and a new fleet of none would prove nothing of the new model. Its requests wait in the queue meanwhile.
   * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_VariantProperty.html
   */
  private keepsCounts(): boolean {
    return this.scaled.size > 0 && !this.isAsync;
  }

  private createRollbackAlarms(deployment: DeploymentProps): IAlarm[] {
    const instances = this.variants.filter(({ props }) => !props.serverless);
    const own = instances.flatMap(({ name }) => {
      const scope = new Construct(this, `Rollback${name}`);
      // Of the new fleet alone. An alarm that also counts the old fleet's errors would end the very update
      // that mends them.
      // https://docs.aws.amazon.com/sagemaker/latest/dg/deployment-guardrails-configuration.html
      const newFleet = new VariantMetrics(this.endpointName, name, this.endpointConfigName);
      const fleet = `${this.endpointConfigName}-${name}`;
      return rollbackAlarms(scope, newFleet, fleet, deployment, this.metricPeriods);
    });
    return [...own, ...(deployment.rollbackAlarms ?? [])];
  }
}
