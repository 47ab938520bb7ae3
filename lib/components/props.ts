/** Props of inference components and of the endpoint that they share. */
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Duration, Size } from 'aws-cdk-lib/core';
import type { MetricsConfigProps } from '../endpoint/metrics-config.ts';
import type { StartTimes } from '../endpoint/start-times.ts';
import type { VariantProps } from '../endpoint/variant.ts';
import type { IModel } from '../model.ts';
import type { VpcAttachmentProps } from '../vpc-attachment.ts';

/** The load that one copy should have; more adds copies, less removes them. */
export type ComponentTarget =
  /** Requests a minute. */
  | { readonly invocationsPerMinute: number }
  /** Requests in flight; reacts within 10 seconds. */
  | { readonly concurrentRequests: number };

/** Autoscaling of a component's copies. */
export interface ComponentScalingProps {
  /**
   * Fewest copies. With 0 the component sleeps when nobody asks: the first request is refused and wakes it, which takes
   * minutes.
   * @see https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling-zero-instances.html
   * @default 1
   */
  readonly minCopies?: number;
  /** Most copies. */
  readonly maxCopies: number;
  /** Load of one copy. */
  readonly target: ComponentTarget;
  /**
   * Pause after copies were added.
   * @default Duration.minutes(1)
   */
  readonly scaleOutCooldown?: Duration;
  /**
   * Pause after copies were removed.
   * @default Duration.minutes(5)
   */
  readonly scaleInCooldown?: Duration;
}

/** How an update reaches the copies: in batches, each with a pause in which alarms can undo it. */
export interface ComponentUpdateProps {
  /** Share of the copies in each batch, 5-50 percent. */
  readonly percent: number;
  /** Wait after each batch, at most 1 hour. */
  readonly wait: Duration;
  /**
   * 5xx answers of a component within one minute that roll its update back.
   * @default 5
   */
  readonly serverErrorsPerMinute?: number;
}

/** One model with its share of the instances. */
export interface ComponentProps extends StartTimes {
  /**
   * Names it among the components; SageMaker's name of it is the endpoint's, a hyphen and this, in lower case unless the
   * endpoint has an `endpointName`.
   */
  readonly name: string;
  /** The model that its copies serve. */
  readonly model: IModel;
  /**
   * Memory that is set aside for each copy, at least 128 MiB. Copies may use more where the instance has it.
   * @default Size.mebibytes(1024)
   */
  readonly memory?: Size;
  /**
   * CPU cores that are set aside for each copy, at least 0.25.
   * @default - none set aside
   */
  readonly cpus?: number;
  /**
   * GPUs of each copy, whole ones.
   * @default - 1 with an image for GPUs, else none
   */
  readonly accelerators?: number;
  /**
   * Copies at the start. An update may set this number again, so give what runs now when you release at a busy time.
   * @default - scaling.minCopies, and at least 1
   */
  readonly copies?: number;
  /**
   * Autoscaling of the copies.
   * @default - a fixed number of copies
   */
  readonly scaling?: ComponentScalingProps;
}

/** The instances that the components share. SageMaker adds and removes them as the copies need. */
export interface ComponentInstancesProps
  extends Pick<VariantProps, 'instanceType' | 'inferenceAmiVersion' | 'routing' | 'volumeSize'> {
  /**
   * Fewest instances.
   * @default - 0 if every component may have 0 copies, else 1
   */
  readonly minInstances?: number;
  /** Most instances. */
  readonly maxInstances: number;
}

/** Props of `ComponentEndpoint`. */
export interface ComponentEndpointProps extends VpcAttachmentProps {
  /** The models, each with its share. */
  readonly components: readonly ComponentProps[];
  /** What they run on. */
  readonly instances: ComponentInstancesProps;
  /**
   * How updates reach the copies of every component.
   * @default - as SageMaker does by itself
   */
  readonly update?: ComponentUpdateProps;
  /**
   * Metrics that SageMaker publishes for the endpoint.
   * @default - SageMaker's defaults
   */
  readonly metricsConfig?: MetricsConfigProps;
  /**
   * The one key for volumes and logs.
   * @default - the key of the stack, or AWS's own keys
   */
  readonly encryptionKey?: IKey;
  /**
   * Keys that archives and volumes are under from before. The roles may use them beside `encryptionKey`.
   * @default - those of the stack, or none
   */
  readonly formerEncryptionKeys?: readonly IKey[];
  /**
   * How long the components' logs are kept.
   * @default RetentionDays.THREE_MONTHS
   */
  readonly logRetention?: RetentionDays;
  /**
   * Whether there is an endpoint. `false` takes it and its components away, and keeps the models and the configuration.
   * @default true
   */
  readonly enabled?: boolean;
  /**
   * Name of the endpoint, unique in account and region.
   * @default - derived from the stack's name and the construct's path, and ending in `-components`
   */
  readonly endpointName?: string;
}

/** A component whose props have been checked. */
export interface BoundComponent {
  /** As the props name it. */
  readonly name: string;
  /** SageMaker's name, by which requests choose it. */
  readonly componentName: string;
  readonly componentArn: string;
  readonly props: ComponentProps;
}
