/** Props of a batch transform. */
import type { Existing } from '@sagemaker-tfs/batch';
import type { AssembleWith, BatchStrategy, SplitType } from '@sagemaker-tfs/batch/settings';
import type { Schedule } from 'aws-cdk-lib/aws-events';
import type { IRole } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Duration } from 'aws-cdk-lib/core';
import type { AnyBucket } from '../cdk-types.ts';
import type { IModel } from '../model.ts';

/** A place in S3. */
export interface S3Place {
  readonly bucket: AnyBucket;
  /** Key prefix, ending in `/`. */
  readonly prefix: string;
}

/** How a large input is cut into jobs. */
export interface ShardingProps {
  /** Inputs of one job at most. */
  readonly objectsPerShard: number;
  /**
   * Minutes of work of one job, 0-1,440: the first small shard shows the rate, and the others are cut by it.
   * `objectsPerShard` is then the most that a shard has, and with 0 what every shard has.
   * @default 60
   */
  readonly minutesPerShard?: number;
  /**
   * Jobs at once; this times `instanceCount` must stay below the account's quota.
   * @default 2
   */
  readonly maxConcurrentJobs?: number;
  /**
   * End of the keys that are taken, such as `.jpg`.
   * @default - all keys below the input prefix
   */
  readonly keySuffix?: string;
}

/** Props of `BatchTransform`. All but models, places and keys are defaults of an execution's input. */
export interface BatchTransformProps {
  /** The model that answers. Of SageMaker, by name, or made in the app. */
  readonly model: IModel;
  /**
   * Name of the state machine, 1-80 characters, unique in account and region.
   * @default - CloudFormation's
   */
  readonly stateMachineName?: string;
  /**
   * Role of the state machine. It must trust `states.amazonaws.com`; what it needs is added to its policies.
   * @default - a new one
   */
  readonly role?: IRole;
  /** Where inputs are: every object below the prefix. */
  readonly input: S3Place;
  /** Where `<name>.out` is written. */
  readonly output: S3Place;
  /**
   * Which outputs that are there before a sharded run count as done: those of the same model and settings that are
   * not `older` than their input, all (`skip`), or none (`replace`). A single job makes every output again.
   * @default 'older'
   */
  readonly existing?: Existing;
  /**
   * Whether a sharded run that finds no input succeeds.
   * @default false
   */
  readonly allowEmpty?: boolean;
  /**
   * Inputs of a shard, in percent, whose failure stops the run; 100 never does.
   * @default 50
   */
  readonly maxFailurePercent?: number;
  /**
   * Hours of all instances together after which a sharded run starts no more jobs, and fails. Jobs that run then
   * continue to their end: a job that is stopped is paid, and leaves no output. What they use after the stop does not count
   * if the run is started again.
   * @default - no limit
   */
  readonly budgetInstanceHours?: number;
  /**
   * Instances of a job, by SageMaker's name.
   * @default 'ml.p3.2xlarge'
   */
  readonly instanceType?: string;
  /**
   * Types to continue with, in turn, where `instanceType` is refused, at its quota or without capacity; each
   * with the host image that suits it.
   * @default - for `ml.p3`, which AWS is taking away: `ml.g5.2xlarge`, then `ml.g4dn.xlarge`; none for others
   */
  readonly fallbackInstanceTypes?: readonly string[];
  /**
   * Instances of a job, 1-100. SageMaker spreads the objects over them.
   * @default 2
   */
  readonly instanceCount?: number;
  /**
   * Requests at once to each instance; 0 asks the container.
   * @default 64
   */
  readonly maxConcurrentTransforms?: number;
  /**
   * Largest request, MB, 0-100; 0 lets an object be of any size.
   * @default 1
   */
  readonly maxPayloadInMB?: number;
  /**
   * Whether a request holds one record or as many as fit.
   * @default 'SingleRecord'
   */
  readonly batchStrategy?: BatchStrategy;
  /**
   * Media type of the inputs.
   * @default - `application/x-image` for a model that was packaged here and takes pictures; others need one
   */
  readonly contentType?: string;
  /**
   * Media type of the outputs.
   * @default 'application/json'
   */
  readonly accept?: string;
  /**
   * How an object is cut into records.
   * @default 'None', one request for each object
   */
  readonly splitType?: SplitType;
  /**
   * What follows the answer to each request. `None` is refused if objects are cut into records and answers are JSON.
   * @default 'None', or 'Line' if `splitType` cuts objects into records and `accept` is JSON
   */
  readonly assembleWith?: AssembleWith;
  /**
   * How the inputs are compressed.
   * @default 'None'
   */
  readonly compressionType?: 'None' | 'Gzip';
  /**
   * Writes records beside their answers, for JSON and CSV.
   * @default 'None'
   */
  readonly joinSource?: 'None' | 'Input';
  /**
   * JSONPath of the part of a record that is sent.
   * @default '$'
   */
  readonly inputFilter?: string;
  /**
   * JSONPath of the part of an answer that is kept.
   * @default '$'
   */
  readonly outputFilter?: string;
  /**
   * Time for one request, 1 second to 1 hour.
   * @default Duration.minutes(10)
   */
  readonly invocationsTimeout?: Duration;
  /**
   * Tries after a failed request, 0-3.
   * @default 3
   */
  readonly invocationsMaxRetries?: number;
  /**
   * Environment of the jobs' containers, beside the model's; 16 variables at most.
   * @default - none
   */
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * Host image, which decides the GPU driver.
   * @default - chosen to suit the image's CUDA and the instance type
   */
  readonly transformAmiVersion?: string;
  /**
   * The one key for volumes, outputs and logs. Disks that come with an instance have a key of their own.
   * @default - the key of the stack, or AWS's own keys
   */
  readonly encryptionKey?: IKey;
  /**
   * Keys that objects and waiting requests are under from before. Roles may use them beside `encryptionKey`.
   * @default - those of the stack, or none
   */
  readonly formerEncryptionKeys?: readonly IKey[];
  /**
   * Key of the instances' volumes. Not for types with disks of their own.
   * @default - `encryptionKey`, or SageMaker's own key
   */
  readonly volumeKey?: IKey;
  /**
   * Key that outputs are encrypted with.
   * @default - `encryptionKey`, or the bucket's own encryption
   */
  readonly outputKey?: IKey;
  /**
   * Tags of the jobs, for cost reports.
   * @default - none
   */
  readonly jobTags?: Readonly<Record<string, string>>;
  /**
   * Several jobs instead of one, each over a part of the input, with a check at the end that every input
   * has an output.
   * @default - one job
   */
  readonly sharding?: ShardingProps;
  /**
   * Where S3 writes inventories of the input bucket. An execution whose input names one of their
   * `manifest.json` as `inventoryUri` reads it instead of listing the bucket.
   * @default - only inventories below the input or output prefix can be read
   */
  readonly inventory?: S3Place;
  /**
   * Topic that gets a message when an execution ends, however it does, and from an alarm when one could not be started.
   * @default - no notification
   */
  readonly topic?: ITopic;
  /**
   * Percentages, 1-99, of a sharded run's inputs at which `topic` receives a progress message, once each.
   * @default - none
   */
  readonly noticesAt?: readonly number[];
  /**
   * Starts an execution by the clock.
   * @default - started by hand
   */
  readonly schedule?: Schedule;
  /**
   * Starts an execution after every deployment of the stack.
   * @default false
   */
  readonly runOnDeploy?: boolean;
  /**
   * Starts an execution when a manifest is uploaded below the input prefix: an object whose key ends so.
   * The bucket must send events to EventBridge.
   * @default - uploads start nothing
   */
  readonly startOnManifest?: string;
}
