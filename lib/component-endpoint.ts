/** A SageMaker endpoint whose instances several models share: inference components. */
import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { Grant, type IGrantable, PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import {
  CfnEndpoint,
  CfnEndpointConfig,
  type CfnEndpointProps,
  CfnInferenceComponent,
} from 'aws-cdk-lib/aws-sagemaker';
import { Annotations, ArnFormat, Size, Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { checkComponents, MAX_COMPONENT_NAME } from './components/check-props.ts';
import { componentLogGroup, createExecutionRole } from './components/execution-role.ts';
import { ComponentMetrics } from './components/metrics.ts';
import type { BoundComponent, ComponentEndpointProps, ComponentProps } from './components/props.ts';
import { addComponentScaling } from './components/scaling.ts';
import { renderUpdate, rollbackAlarm } from './components/update.ts';
import { encryptionKeyOf, grantFormerKeys, setEncryptionKey, setFormerKeys } from './encryption.ts';
import { takesVolumeKey, warnOfVolumesWithoutKey } from './endpoint/combinations.ts';
import { defaultName, MAX_ENDPOINT_NAME, spellings } from './endpoint/default-name.ts';
import { EndpointBase, endpointArnOf, INVOKE } from './endpoint/endpoint-base.ts';
import { DEFAULT_LOG_RETENTION, keepGroups } from './endpoint/log-group.ts';
import { renderMetricsConfig } from './endpoint/metrics-config.ts';
import { renewWith } from './endpoint/new-config.ts';
import { startTimes } from './endpoint/start-times.ts';
import { bindVariant, DEFAULT_INSTANCE_TYPE, requireModel } from './endpoint/variant.ts';
import { chooseAmi } from './inference-ami.ts';
import { regionFacts } from './instance-types/regions.ts';
import { keepReplaced } from './model-retention.ts';
import { type MetricPeriods, metricPeriods } from './rules/metric-periods.ts';
import { warnOfRareRequests } from './scaling-policies.ts';
import { checkDeployed } from './smoke-test/deployed.ts';
import { warnOfExport, warnOfImporters } from './stack-references.ts';
import { invalidProp } from './validation.ts';
import { attachToVpc } from './vpc-attachment.ts';

/** Name of the one variant, as the SageMaker Python SDK has it. */
const VARIANT = 'AllTraffic';
const DEFAULT_MEMORY = Size.mebibytes(1024);
const SUFFIX = '-components';

/**
 * A name that no other kind of endpoint has: an endpoint that hosts a model takes no components, so that a change from
 * one to the other must make another endpoint.
 * @see https://github.com/hashicorp/terraform-provider-aws/issues/40644
 */
function nameOf(scope: Construct): string {
  return defaultName(scope, MAX_ENDPOINT_NAME - 1 - MAX_COMPONENT_NAME, SUFFIX);
}

/**
 * Several models on the instances of one real-time endpoint, each with copies and a share of CPUs, memory and GPUs, and
 * with a number of instances that may be 0 while nobody asks.
 * @see https://docs.aws.amazon.com/sagemaker/latest/dg/realtime-endpoints-deploy-models.html
 */
export class ComponentEndpoint extends EndpointBase {
  readonly endpointName: string;
  readonly endpointArn: string;
  /** The components, in the order given. */
  readonly components: readonly BoundComponent[];
  /** False keeps everything but the endpoint and its components. */
  readonly enabled: boolean;
  /** Role of the endpoint's configuration. */
  readonly executionRole: Role;
  /** Seconds of the shortest periods in which the components' metrics have a point. */
  readonly metricPeriods: MetricPeriods;
  /** Alarms that roll an update of a component back. */
  readonly rollbackAlarms: readonly Alarm[];
  protected readonly invokeActions = INVOKE;
  private readonly config: CfnEndpointConfig;
  private readonly deployed: Construct;

  constructor(scope: Construct, id: string, props: ComponentEndpointProps) {
    super(scope, id, props.endpointName === undefined ? {} : { physicalName: props.endpointName });
    props.components.forEach((one, i) => {
      requireModel(this, `components[${i}]`, one);
    });
    setEncryptionKey(this, props.encryptionKey);
    setFormerKeys(this, props.formerEncryptionKeys);
    checkComponents(this, props);
    checkComponentsInRegion(this);
    this.endpointName = props.endpointName ?? nameOf(this);
    this.endpointArn = endpointArnOf(Stack.of(this), this.endpointName);
    this.enabled = props.enabled ?? true;
    this.metricPeriods = metricPeriods(props.metricsConfig);
    if (props.components.some(({ scaling }) => scaling)) {
      warnOfRareRequests(this, this.metricPeriods);
    }
    const named = props.endpointName !== undefined;
    this.components = props.components.map((component) => this.bind(component, named));
    const vpc = attachToVpc(this, props);
    this.executionRole = createExecutionRole(this, this.endpointName, this.components, vpc);
    this.config = this.createConfig(props, vpc?.config);
    warnOfImporters(this, 'endpointConfigName', this.endpointConfigName, 'the endpoint');
    const retention = props.logRetention ?? DEFAULT_LOG_RETENTION;
    const places = this.components.map(({ name, componentName }) => {
      const place = new Construct(this, `Component-${name}`);
      const logs = new Construct(place, 'Logs');
      return {
        place,
        logs,
        group: { scope: logs, logGroupName: componentLogGroup(componentName) },
      };
    });
    keepGroups(
      new Construct(this, 'Logs'),
      places.map(({ group }) => group),
      componentLogGroup(`${this.endpointName}-*`),
      retention,
    );
    const { update } = props;
    this.rollbackAlarms = update
      ? this.components.map(({ componentName }, i) =>
          rollbackAlarm(places[i]?.place ?? this, componentName, update, this.metricPeriods),
        )
      : [];
    this.allowRollback();
    const endpoint = this.createEndpoint();
    this.deployed = endpoint ? new Construct(this, 'Running') : this.config;
    if (!endpoint) return;
    this.components.forEach((component, i) => {
      const { place = this, logs = this } = places[i] ?? {};
      const resource = this.createComponent(component, i, props);
      resource.node.addDependency(endpoint, logs, ...this.rollbackAlarms);
      if (!component.props.scaling) return;
      const scaling = new Construct(place, 'Scaling');
      addComponentScaling(scaling, component.componentName, component.props.scaling);
      scaling.node.addDependency(resource);
    });
  }

  /** Name that CloudFormation gave the configuration; another after every change. */
  get endpointConfigName(): string {
    return this.config.attrEndpointConfigName;
  }

  /** What to depend on to come after the endpoint and all of its components. */
  get deployment(): Construct {
    return this.deployed;
  }

  /** Metrics of a component. @param name as the props have it */
  componentMetrics(name: string): ComponentMetrics {
    const found = this.components.find((component) => component.name === name);
    const known = this.components.map((component) => component.name).join(', ');
    return new ComponentMetrics(
      found?.componentName ??
        invalidProp(this, 'name', `no component '${name}'`, `Known: ${known}`),
    );
  }

  /** Lets `grantee` do what `actions` say with this endpoint and its components. */
  override grant(grantee: IGrantable, ...actions: string[]): Grant {
    const resourceArns = [
      ...spellings(this.endpointArn, this.endpointName),
      ...this.components.flatMap((one) => spellings(one.componentArn, one.componentName)),
    ];
    return Grant.addToPrincipal({ grantee, actions, resourceArns });
  }

  private bind(props: ComponentProps, named: boolean): BoundComponent {
    const name = named ? props.name : props.name.toLowerCase();
    const componentName = `${this.endpointName}-${name}`;
    const componentArn = Stack.of(this).formatArn({
      service: 'sagemaker',
      resource: 'inference-component',
      resourceName: componentName,
      arnFormat: ArnFormat.SLASH_RESOURCE_NAME,
    });
    return { name: props.name, componentName, componentArn, props };
  }

  /** One variant without a model, whose instances SageMaker counts by itself. */
  private createConfig(
    props: ComponentEndpointProps,
    vpcConfig: { subnets: string[]; securityGroupIds: string[] } | undefined,
  ): CfnEndpointConfig {
    const { components, instances, metricsConfig } = props;
    const { minInstances = fewestInstances(components), maxInstances, ...rest } = instances;
    const [{ model } = invalidProp(this, 'components', 'none given', 'Give at least one')] =
      components;
    const instanceCount = Math.max(1, minInstances);
    const { rendered } = bindVariant(this, 'instances', { ...rest, model, instanceCount }, true);
    this.checkHosts(props, rendered.inferenceAmiVersion);
    // The variant of an endpoint for components has no model, and so nothing to share requests out by.
    const { modelName: _, initialVariantWeight: __, ...variant } = rendered;
    warnOfExport(
      this,
      this.components.map(({ props: { model } }) => model),
    );
    for (const { props: component } of this.components) {
      if (component.model.stack !== this.stack) keepReplaced(component.model);
    }
    const key = encryptionKeyOf(this);
    const fleet = { variants: [{ ...rest, model }] };
    const volumeKey = takesVolumeKey(fleet) ? key : undefined;
    if (key) warnOfVolumesWithoutKey(this, fleet);
    volumeKey?.grantEncryptDecrypt(this.executionRole);
    // Copies of before read their archives until the update is complete, and after a rollback.
    const roles = components.flatMap(({ model }) => model.role ?? []);
    for (const role of new Set([this.executionRole, ...roles])) grantFormerKeys(this, role);
    const config = new CfnEndpointConfig(this, 'Config', {
      productionVariants: [
        {
          ...variant,
          variantName: VARIANT,
          managedInstanceScaling: {
            status: 'ENABLED',
            minInstanceCount: minInstances,
            maxInstanceCount: maxInstances,
          },
        },
      ],
      executionRoleArn: this.executionRole.roleArn,
      enableNetworkIsolation: model.networkIsolation,
      ...(vpcConfig && { vpcConfig }),
      ...(metricsConfig && { metricsConfig: renderMetricsConfig(this, metricsConfig) }),
      ...(volumeKey && { kmsKeyId: volumeKey.keyArn }),
    });
    config.node.addDependency(this.executionRole);
    return config;
  }

  /** Refuses images that the instances, or their one host image, cannot run. */
  private checkHosts({ components, instances }: ComponentEndpointProps, ami?: string): void {
    const { instanceType = DEFAULT_INSTANCE_TYPE } = instances;
    components.forEach(({ model }, i) => {
      const prop = `components[${i}].model`;
      chooseAmi(this, prop, 'endpoint', instanceType, model.image.platform, ami);
    });
  }

  /** Returns the check that follows the endpoint; undefined if it is not enabled. */
  private createEndpoint(): Construct | undefined {
    const props: CfnEndpointProps = {
      endpointName: this.endpointName,
      endpointConfigName: this.endpointConfigName,
      // SageMaker counts the instances, so an update keeps their number.
      // https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_UpdateEndpoint.html
      retainAllVariantProperties: true,
    };
    const endpoint = this.enabled ? new CfnEndpoint(this, 'Resource', props) : undefined;
    renewWith(this.config, { endpoint, props });
    if (!endpoint) return undefined;
    return checkDeployed(this, {
      endpoint,
      endpointName: this.endpointName,
      endpointArn: this.endpointArn,
      endpointConfigName: this.endpointConfigName,
    });
  }

  private createComponent(
    { name, componentName, props }: BoundComponent,
    index: number,
    { update }: ComponentEndpointProps,
  ): CfnInferenceComponent {
    const { model, memory = DEFAULT_MEMORY, cpus, scaling } = props;
    const isForGpus = model.image.platform.accelerator === 'gpu';
    const accelerators = props.accelerators ?? (isForGpus ? 1 : undefined);
    const startupParameters = startTimes(this, `components[${index}]`, props);
    const alarm = this.rollbackAlarms[index];
    return new CfnInferenceComponent(this.deployed, name, {
      inferenceComponentName: componentName,
      endpointName: this.endpointName,
      variantName: VARIANT,
      specification: {
        modelName: model.modelName,
        computeResourceRequirements: {
          minMemoryRequiredInMb: memory.toMebibytes(),
          ...(cpus !== undefined && { numberOfCpuCoresRequired: cpus }),
          ...(accelerators !== undefined && { numberOfAcceleratorDevicesRequired: accelerators }),
        },
        ...(Object.keys(startupParameters).length > 0 && { startupParameters }),
      },
      runtimeConfig: { copyCount: props.copies ?? Math.max(1, scaling?.minCopies ?? 1) },
      ...(update && alarm && { deploymentConfig: renderUpdate(update, alarm) }),
    });
  }

  /** @see https://docs.aws.amazon.com/sagemaker/latest/dg/deployment-guardrails-configuration.html */
  private allowRollback(): void {
    if (this.rollbackAlarms.length === 0) return;
    this.executionRole.addToPolicy(
      new PolicyStatement({
        actions: ['cloudwatch:DescribeAlarms'],
        resources: this.rollbackAlarms.map(({ alarmArn }) => alarmArn),
      }),
    );
  }
}

/** None if every component may sleep. */
function fewestInstances(components: readonly ComponentProps[]): number {
  return components.every(({ scaling }) => scaling?.minCopies === 0) ? 0 : 1;
}

function checkComponentsInRegion(scope: Construct): void {
  const { region } = Stack.of(scope);
  if (regionFacts(region)?.inferenceComponents !== false) return;
  Annotations.of(scope).addWarningV2(
    '@sagemaker-tfs/cdk:componentsInRegion',
    `components: CloudFormation's registry has no AWS::SageMaker::InferenceComponent in ${region}, so the deployment may be refused. Use another region`,
  );
}
