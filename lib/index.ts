/** Constructs that serve TensorFlow models on SageMaker. */
import { requireNode } from '@sagemaker-tfs/batch/node-version';

export * from '@sagemaker-tfs/batch/settings';
export * from './baked-image.ts';
export type { BatchTransformProps, S3Place, ShardingProps } from './batch/props.ts';
export * from './batch-transform.ts';
export type { BatchWorkerProps } from './batch-worker/props.ts';
export * from './batch-worker.ts';
export type { AnyBucket, AnyVpc } from './cdk-types.ts';
export * from './component-endpoint.ts';
export * from './component-monitoring.ts';
export { ComponentMetrics } from './components/metrics.ts';
export type {
  BoundComponent,
  ComponentEndpointProps,
  ComponentInstancesProps,
  ComponentProps,
  ComponentScalingProps,
  ComponentTarget,
  ComponentUpdateProps,
} from './components/props.ts';
export {
  defineConfig,
  type RedeployConfig,
  type RegistryConfig,
  type ServingConfig,
  type ServingConfigInput,
} from './config.ts';
export { AWS_RULES, type Rule } from './config-rules/index.ts';
export * from './drift-monitor.ts';
export type { AsyncFiles, AsyncInferenceProps } from './endpoint/async-inference.ts';
export type { ScalingProps, ScalingTarget } from './endpoint/autoscaling.ts';
export type { DataCaptureProps } from './endpoint/data-capture.ts';
export type { DeploymentProps, TrafficShift } from './endpoint/deployment.ts';
export type { IRealtimeEndpoint } from './endpoint/endpoint-base.ts';
export type { InstancePool } from './endpoint/instance-pools.ts';
export * from './endpoint/metrics.ts';
export * from './endpoint/metrics-config.ts';
export type { RealtimeEndpointProps } from './endpoint/props.ts';
export type { ServerlessProps } from './endpoint/serverless.ts';
export type { BoundVariant, VariantProps } from './endpoint/variant.ts';
export type {
  ApiAuth,
  ApiDomain,
  ApiThrottle,
  EndpointApiProps,
  JwtProps,
} from './endpoint-api/props.ts';
export * from './endpoint-api.ts';
export type { PlannedVariant } from './endpoint-variants.ts';
export type { RuntimeEnvironment } from './environment.ts';
export type { ImagePlatform } from './image-platform.ts';
export { AMI_DRIVERS } from './inference-ami.ts';
export * from './instance-types/index.ts';
export type { IModel, ModelAttributes, ModelFacts } from './model.ts';
export * from './model-data/index.ts';
export * from './model-registry.ts';
export type { AlarmThresholds } from './monitoring/alarms.ts';
export * from './monitoring.ts';
export { parseConfig } from './parse-config.ts';
export * from './realtime-endpoint.ts';
export * from './redeployment.ts';
export type { MetricPeriods } from './rules/metric-periods.ts';
export type { ScheduledLimits } from './rules/scaling-schedule.ts';
export { readConfig, runApp } from './run-app.ts';
export * from './serving-image.ts';
export * from './smoke-test/plan.ts';
export * from './smoke-test.ts';
export * from './stacks/index.ts';
export * from './tensorflow-model.ts';
export type { VpcAttachmentProps } from './vpc-attachment.ts';

requireNode('@sagemaker-tfs/cdk');
