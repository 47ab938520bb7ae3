/** Props of a batch worker on AWS Batch. */
import type { ILaunchTemplate, ISecurityGroup, SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import type { Schedule } from 'aws-cdk-lib/aws-events';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Duration, Size } from 'aws-cdk-lib/core';
import type { S3Place } from '../batch/props.ts';
import type { AnyVpc } from '../cdk-types.ts';
import type { TensorFlowModel } from '../tensorflow-model.ts';

/** Props of {@link BatchWorker}. */
export interface BatchWorkerProps {
  /** Model of one `model.tar.gz`. Workers run its image with its variables; no SageMaker model is started. */
  readonly model: TensorFlowModel;
  /** Where inputs are: every object below the prefix. */
  readonly input: S3Place;
  /** Where answers are written, the answers of many inputs in one object. */
  readonly output: S3Place;
  /** Network of the instances. It needs a way to S3, ECS, ECR and CloudWatch Logs, and to SNS for `noticesAt`: NAT or VPC endpoints. */
  readonly vpc: AnyVpc;
  /**
   * Subnets of the instances.
   * @default - the private subnets of `vpc`
   */
  readonly vpcSubnets?: SubnetSelection;
  /**
   * Security groups of the instances.
   * @default - a new one that allows all outbound traffic
   */
  readonly securityGroups?: readonly ISecurityGroup[];
  /**
   * Types of EC2 instances, without `ml.`, all of the image's architecture; AWS Batch takes what is there and cheap. Name several: a spot pool of
   * one type is easily empty.
   * @default - the first three that the region has: of `g4dn.xlarge`, `g5.xlarge` and `g6.xlarge` for `gpu` images; of `m6i.xlarge`, `m6a.xlarge`, `m7i.xlarge` and `m5.xlarge` for others; of `m6g.xlarge`, `m7g.xlarge` and `m8g.xlarge` for those built for arm64. In a stack without a region `g4dn.xlarge` and `g5.xlarge`; `m6i.xlarge` and `m7i.xlarge`; `m6g.xlarge` and `m7g.xlarge`
   */
  readonly instanceTypes?: readonly string[];
  /**
   * Whether to take spot instances, which AWS may take back: a worker continues where it was.
   * @default true
   */
  readonly spot?: boolean;
  /**
   * Workers of a run, 1-10,000, all at once if AWS has the instances: there may be one of the largest of `instanceTypes` for
   * each. A worker takes its share of the ranges of keys.
   * @default 8
   */
  readonly workers?: number;
  /**
   * vCPUs of a worker, 1-256.
   * @default 4
   */
  readonly vcpus?: number;
  /**
   * Memory of a worker; less than an instance has, as its system needs some.
   * @default Size.gibibytes(12)
   */
  readonly memory?: Size;
  /**
   * Root volume of an instance, 30 GiB or more. It holds the image, and archive and model of every worker on the instance.
   * @default Size.gibibytes(100)
   */
  readonly diskSize?: Size;
  /**
   * Launch template of the instances, for an organization that demands more of them, such as a KMS key of its own for volumes.
   * @default - one that requires IMDSv2 and encrypts the root volume with the key that EBS has as default in the account
   */
  readonly launchTemplate?: ILaunchTemplate;
  /**
   * Times that a worker is started, 1-10, if its instance is taken back, its image cannot be pulled, or it is killed. One that needs
   * more than its memory starts once.
   * @default 10
   */
  readonly attempts?: number;
  /**
   * How long a worker may run each time that it is started, a minute or more; then AWS Batch ends it, and does not start it
   * again: one that hangs is paid for no longer than this. Run again, the run continues.
   * @default Duration.days(5)
   */
  readonly timeout?: Duration;
  /**
   * How long a worker waits where AWS has no instance for it, 10 minutes to a day; then AWS Batch cancels it. One that no
   * instance can hold is cancelled after 10 minutes. Run again, the run continues.
   * @default Duration.days(1)
   */
  readonly provisioningTimeout?: Duration;
  /**
   * Media type of the inputs.
   * @default - `application/x-image` for a model that was packaged here and takes pictures; others need one
   */
  readonly contentType?: string;
  /**
   * Media type of the answers.
   * @default 'application/json'
   */
  readonly accept?: string;
  /**
   * End of the keys that are taken, such as `.jpg`.
   * @default - all keys below the input prefix
   */
  readonly keySuffix?: string;
  /**
   * Ranges that the keys are cut into, 1-10,000; more than workers.
   * @default 8 for each worker, and 64 at least
   */
  readonly ranges?: number;
  /**
   * Failed inputs, in percent of those tried, that end a worker.
   * @default 50
   */
  readonly maxFailurePercent?: number;
  /**
   * When to start. A start while the former run still works ends with `ALREADY_RUNNING`; over inputs that all have an answer it
   * ends at once. Inputs added to ranges that are done are not taken.
   * @default - only when asked
   */
  readonly schedule?: Schedule;
  /**
   * Receives messages about the end of each run, about workers that find no instance, with the reason, and from an alarm when
   * `schedule` could not start a run.
   * @default - none
   */
  readonly topic?: ITopic;
  /**
   * Hours of all workers of a run together, restarts included, after which they write what they have and end. Greater than 0.
   * A worker that is killed may leave up to a minute uncounted.
   * @default - no limit
   */
  readonly budgetHours?: number;
  /**
   * Percentages, 1-99, of the ranges of keys at which `topic` receives a progress message, once each for an output prefix.
   * @default - none
   */
  readonly noticesAt?: readonly number[];
  /**
   * Key of the logs.
   * @default - the key of the stack, or AWS's own keys
   */
  readonly encryptionKey?: IKey;
  /**
   * Keys that models, inputs and answers are under from before. Workers may decrypt with them, those that continue across a
   * deployment too.
   * @default - those of the stack, or none
   */
  readonly formerEncryptionKeys?: readonly IKey[];
}
