/** Props of an endpoint. */
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { AsyncInferenceProps } from './async-inference.ts';
import type { DataCaptureProps } from './data-capture.ts';
import type { DeploymentProps } from './deployment.ts';
import type { MetricsConfigProps } from './metrics-config.ts';
import type { VariantProps } from './variant.ts';

/** Props of `RealtimeEndpoint`. */
export interface RealtimeEndpointProps {
  /** Production variants, 1-10; requests are spread by their weights. */
  readonly variants: readonly VariantProps[];
  /**
   * A variant that gets a copy of the requests and whose answers nobody sees; `weight` is the share of
   * them, relative to the production variant's.
   * @default - none
   */
  readonly shadowVariant?: VariantProps;
  /**
   * Takes requests from S3 through a queue instead of answering at once.
   * @default - answers at once
   */
  readonly asyncInference?: AsyncInferenceProps;
  /**
   * Keeps a sample of requests and answers.
   * @default - nothing is kept
   */
  readonly dataCapture?: DataCaptureProps;
  /**
   * Metrics that SageMaker publishes for the endpoint.
   * @default - SageMaker's defaults
   */
  readonly metricsConfig?: MetricsConfigProps;
  /**
   * How updates reach the instances and what rolls them back. Not for serverless variants.
   * @default - all at once, back on 5xx answers
   */
  readonly deployment?: DeploymentProps;
  /**
   * The one key for volumes, answers, captures and logs. Serverless endpoints and disks that come with an
   * instance have keys of their own.
   * @default - the key of the stack, or AWS's own keys
   */
  readonly encryptionKey?: IKey;
  /**
   * Keys that objects and waiting requests are under from before. Roles may use them beside `encryptionKey`.
   * @default - those of the stack, or none
   */
  readonly formerEncryptionKeys?: readonly IKey[];
  /**
   * Key of the instances' volumes. Not for types with disks of their own, which are encrypted anyway.
   * @default - `encryptionKey`, or SageMaker's own key
   */
  readonly volumeKey?: IKey;
  /**
   * How long the endpoint's logs are kept, in the group that SageMaker writes them to.
   * @default RetentionDays.THREE_MONTHS
   */
  readonly logRetention?: RetentionDays;
  /**
   * Whether there is an endpoint. `false` takes it away, with its scaling and its check, and keeps everything else: the
   * model, the configuration, buckets, logs, alarms, and the name for the day that it comes back.
   * @default true
   */
  readonly enabled?: boolean;
  /**
   * Name of the endpoint, unique in account and region. It is not left to CloudFormation because the
   * alarms that guard an update and the role's log permission need it before the endpoint exists. An
   * endpoint is replaced only when its name changes, so an old and a new one never collide.
   * @default - derived from the stack's name and the construct's path, and ending in `-async` or `-serverless` for
   *   those: an endpoint cannot become another kind, and is replaced
   */
  readonly endpointName?: string;
}
