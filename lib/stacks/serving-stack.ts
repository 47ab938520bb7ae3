/** One model behind an endpoint, watched and proven. */
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { Annotations, Aws, CfnOutput, Duration, Size, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { EndpointConfig } from '../config.ts';
import { createDataBucket } from '../data-bucket.ts';
import { definedOnly } from '../defined-only.ts';
import { checkBaseline, DriftMonitor } from '../drift-monitor.ts';
import { setEncryptionKeyArn } from '../encryption.ts';
import type { ScalingProps } from '../endpoint/autoscaling.ts';
import type { DeploymentProps } from '../endpoint/deployment.ts';
import { endpointLogGroup } from '../endpoint/log-group.ts';
import type { VariantProps } from '../endpoint/variant.ts';
import { type PlannedVariant, plannedVariants } from '../endpoint-variants.ts';
import type { IModel } from '../model.ts';
import { EndpointMonitoring } from '../monitoring.ts';
import { RealtimeEndpoint } from '../realtime-endpoint.ts';
import type { IServingImage } from '../serving-image.ts';
import { addApi, type Sample } from './add-api.ts';
import { addSmokeTest } from './add-smoke-test.ts';
import { consoleUrl, logsUrl } from './console.ts';
import { emailTopic } from './email-topic.ts';
import { vpcFromConfig } from './model-from-config.ts';
import type { ModelStackProps } from './model-stack-props.ts';
import { modelsOfVariants } from './variant-models.ts';

/** Props of {@link ServingStack}. */
export interface ServingStackProps extends ModelStackProps {
  /**
   * Image of a variant, whose model or instances may need another.
   * @default - `image`
   */
  readonly imageOf?: (variant: PlannedVariant) => IServingImage;
  /** The field `endpoint` of that model. */
  readonly endpoint: EndpointConfig;
}

/** The model or models, their endpoint, dashboard, alarms and smoke test. */
export class ServingStack extends Stack {
  readonly endpoint: RealtimeEndpoint;
  /** Captures, and files of asynchronous requests; undefined if there are none. */
  private dataBucket: Bucket | undefined;

  constructor(scope: Construct, id: string, props: ServingStackProps) {
    super(scope, id, props);
    setEncryptionKeyArn(this, props.encryptionKeyArn, props.formerEncryptionKeyArns);
    const { endpoint: config } = props;
    // Before models are packaged, which takes long.
    if (config.drift) checkBaseline(this, config.drift.baseline, 'drift.baseline');
    const network = vpcFromConfig(this, props.vpcConfig);
    const { image, imageOf = () => image, archiveName } = props;
    const variants = plannedVariants(props.model, config);
    const models = modelsOfVariants(this, variants, { imageOf, network, archiveName });
    const bound = variants.map((variant, i) => ({
      isShadow: variant.isShadow,
      props: variantProps(models[i] as IModel, variant),
    }));
    this.endpoint = this.createEndpoint(bound, config);
    const alarms = config.alarmEmail && {
      alarmTopic: emailTopic(this, 'Alarms', config.alarmEmail),
    };
    const { endpoint } = this;
    const monitoring = new EndpointMonitoring(this, 'Monitoring', { endpoint, ...alarms });
    if (config.drift && this.dataBucket) {
      const bucket = this.dataBucket;
      const looked = { endpoint, bucket, baseline: config.drift.baseline };
      new DriftMonitor(this, 'Drift', { ...definedOnly(config.drift), ...looked, ...alarms });
    }
    const proof = endpoint.enabled ? addSmokeTest(this, endpoint, config, network) : undefined;
    if (config.api) addApi(this, this.endpoint, config.api, sampleOf(config), proof);
    const { endpointName } = this.endpoint;
    const console = consoleUrl(this);
    const outputs = {
      EndpointName: endpointName,
      EndpointUrl: `${console}/sagemaker/home?region=${Aws.REGION}#/endpoints/${endpointName}`,
      DashboardUrl: `${console}/cloudwatch/home?region=${Aws.REGION}#dashboards:name=${monitoring.dashboard.dashboardName}`,
      LogsUrl: logsUrl(console, endpointLogGroup(endpointName)),
      ...(this.endpoint.enabled && { InvokeCommand: invokeCommand(this.endpoint, config) }),
    };
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
    const { asyncFiles } = this.endpoint;
    if (asyncFiles) {
      new CfnOutput(this, 'InputUri', { value: asyncFiles.inputUri });
      new CfnOutput(this, 'OutputUri', { value: asyncFiles.outputUri });
    }
  }

  private createEndpoint(variants: readonly Variant[], config: EndpointConfig): RealtimeEndpoint {
    const needsBucket = config.async || config.dataCapturePercent !== undefined;
    const bucket = needsBucket
      ? createDataBucket(this, 'Data', { filledOnCreate: true })
      : undefined;
    const { asyncRetentionDays, dataCaptureRetentionDays, dataCapturePercent } = config;
    this.dataBucket = bucket;
    if (bucket) noteOfRetention(bucket, config);
    const shadow = variants.find(({ isShadow }) => isShadow);
    return new RealtimeEndpoint(this, 'Endpoint', {
      variants: variants.filter(({ isShadow }) => !isShadow).map(({ props }) => props),
      ...(shadow && { shadowVariant: shadow.props }),
      ...(config.async &&
        bucket && { asyncInference: { outputBucket: bucket, ...expiring(asyncRetentionDays) } }),
      ...(dataCapturePercent !== undefined &&
        bucket && {
          dataCapture: {
            bucket,
            samplingPercentage: dataCapturePercent,
            ...expiring(dataCaptureRetentionDays),
          },
        }),
      ...definedOnly({ logRetention: config.logRetentionDays, enabled: config.enabled }),
      ...(config.metrics && { metricsConfig: definedOnly(config.metrics) }),
      ...(config.deployment && { deployment: deploymentProps(config.deployment) }),
    });
  }
}

/** A variant as the endpoint's construct takes it. */
interface Variant {
  readonly isShadow: boolean;
  readonly props: VariantProps;
}

const expiring = (days: number | undefined) =>
  days === undefined ? {} : { expiration: Duration.days(days) };

/** Says what stays in the bucket for ever. */
function noteOfRetention(bucket: Bucket, config: EndpointConfig): void {
  const fields = [
    ...(config.async && config.asyncRetentionDays === undefined ? ['asyncRetentionDays'] : []),
    ...(config.dataCapturePercent !== undefined && config.dataCaptureRetentionDays === undefined
      ? ['dataCaptureRetentionDays']
      : []),
  ];
  if (fields.length === 0) return;
  Annotations.of(bucket).addInfo(
    `What the endpoint puts here is kept, and paid for, until you delete it. ${fields.join(' and ')} would delete it after a number of days`,
  );
}

function variantProps(
  model: IModel,
  { name, weight, endpoint: config }: PlannedVariant,
): VariantProps {
  const { serverless, scaling, instanceType, instanceCount, inferenceAmiVersion } = config;
  const { instanceTypes, capacityReservationArn, provisioningTimeoutSeconds: wait } = config;
  const download = config.modelDataDownloadTimeoutSeconds;
  const startup = config.startupTimeoutSeconds;
  return {
    model,
    ...definedOnly({ variantName: name, weight }),
    ...definedOnly({ instanceType, instanceCount, inferenceAmiVersion, capacityReservationArn }),
    ...(instanceTypes && { instancePools: instanceTypes.map((type) => ({ instanceType: type })) }),
    ...(wait !== undefined && { provisioningTimeout: Duration.seconds(wait) }),
    ...(scaling && { scaling: scalingProps(scaling) }),
    ...(serverless && {
      serverless: { ...definedOnly(serverless), memory: Size.gibibytes(serverless.memoryGiB) },
    }),
    ...(download !== undefined && { modelDataDownloadTimeout: Duration.seconds(download) }),
    ...(startup !== undefined && { containerStartupHealthCheckTimeout: Duration.seconds(startup) }),
  };
}

function scalingProps({
  schedule,
  ...limits
}: NonNullable<EndpointConfig['scaling']>): ScalingProps {
  return {
    ...definedOnly(limits),
    ...(schedule && { schedule: schedule.map((entry) => definedOnly(entry)) }),
  };
}

function deploymentProps(config: NonNullable<EndpointConfig['deployment']>): DeploymentProps {
  const { traffic, bakeSeconds, serverErrorsPerMinute, modelLatencyP90Ms } = config;
  return {
    ...(traffic && {
      traffic:
        traffic.type === 'all-at-once'
          ? traffic
          : {
              type: traffic.type,
              percent: traffic.percent,
              wait: Duration.seconds(traffic.waitSeconds),
            },
    }),
    ...(bakeSeconds !== undefined && { bakeTime: Duration.seconds(bakeSeconds) }),
    ...definedOnly({ serverErrorsPerMinute }),
    ...(modelLatencyP90Ms !== undefined && {
      modelLatencyP90: Duration.millis(modelLatencyP90Ms),
    }),
  };
}

/** A body to try an endpoint with: the smoke test's first. */
function sampleOf({ smokeTest }: Pick<EndpointConfig, 'smokeTest'>): Sample {
  const [sample] = smokeTest.samples;
  return { body: sample?.file ?? 'FILE', type: sample?.contentType ?? 'application/json' };
}

function invokeCommand(
  { endpointName, asyncFiles }: RealtimeEndpoint,
  { smokeTest }: EndpointConfig,
): string {
  const { body, type } = sampleOf({ smokeTest });
  if (asyncFiles) {
    return `aws sagemaker-runtime invoke-endpoint-async --endpoint-name ${endpointName} --content-type ${type} --input-location ${asyncFiles.inputUri}FILE`;
  }
  return `aws sagemaker-runtime invoke-endpoint --endpoint-name ${endpointName} --content-type ${type} --body fileb://${body} /dev/stdout`;
}
