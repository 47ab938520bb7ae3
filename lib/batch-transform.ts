/** Batch transform: a state machine that runs SageMaker transform jobs to completion, sharded if asked. */
import type { Existing } from '@sagemaker-tfs/batch';
import { fallbackTypes } from '@sagemaker-tfs/batch/instance-types';
import {
  type AssembleWith,
  type BatchStrategy,
  DEFAULT_SETTINGS,
  type FallbackType,
  type SplitType,
  type TransformSettings,
} from '@sagemaker-tfs/batch/settings';
import { EventField, Rule, RuleTargetInput, type Schedule } from 'aws-cdk-lib/aws-events';
import { SfnStateMachine } from 'aws-cdk-lib/aws-events-targets';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { DefinitionBody, LogLevel, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Annotations, Aws, type Duration, Names, RemovalPolicy, Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { checkBatch } from './batch/check-props.ts';
import { definition } from './batch/definition.ts';
import { grantJobs, grantModel, grantShards } from './batch/permissions.ts';
import { createShardFunction } from './batch/shard-function.ts';
import { stopJobsOfEndedRuns } from './batch/stop-jobs.ts';
import type { AnyBucket } from './cdk-types.ts';
import { chooseAmi } from './inference-ami.ts';
import type { TensorFlowModel } from './tensorflow-model.ts';

/** A place in S3. */
export interface S3Place {
  readonly bucket: AnyBucket;
  /** Key prefix, ending in `/`. */
  readonly prefix: string;
}

/** How a large input is cut into jobs. */
export interface ShardingProps {
  /** Inputs of one job. A job takes minutes to start: make shards that run for an hour or more. */
  readonly objectsPerShard: number;
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

/** Props of {@link BatchTransform}. All but models, places and keys are defaults of an execution's input. */
export interface BatchTransformProps {
  readonly model: TensorFlowModel;
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
   * go on to their end.
   * @default - no limit
   */
  readonly budgetInstanceHours?: number;
  /** @default 'ml.p3.2xlarge' */
  readonly instanceType?: string;
  /**
   * Types to go on with, in turn, where `instanceType` is refused, at its quota or without capacity; each
   * with the host image that suits it.
   * @default - for `ml.p3`, which AWS is taking away: `ml.g5.2xlarge`, then `ml.g4dn.xlarge`; none for others
   */
  readonly fallbackInstanceTypes?: readonly string[];
  /** @default 2 */
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
  /** @default 'application/x-image' */
  readonly contentType?: string;
  /** @default 'application/json' */
  readonly accept?: string;
  /**
   * How an object is cut into records.
   * @default 'None', one request for each object
   */
  readonly splitType?: SplitType;
  /**
   * What is put between the answers of one object's records.
   * @default 'None'
   */
  readonly assembleWith?: AssembleWith;
  /** @default 'None' */
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
   * Key of the instances' volumes.
   * @default - SageMaker's own key
   */
  readonly volumeKey?: IKey;
  /**
   * Key that outputs are encrypted with.
   * @default - the bucket's own encryption
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
   * Topic told when an execution ends.
   * @default - nobody is told
   */
  readonly topic?: ITopic;
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

/** `input` of an execution: any of these, the rest comes from the props. */
export type BatchTransformInput = Partial<TransformSettings>;

/** Those of an object's properties that are settings. */
function given(props: object): Partial<TransformSettings> {
  const entries = Object.entries(props).filter(
    ([name, value]) => name in DEFAULT_SETTINGS && value !== undefined,
  );
  return Object.fromEntries(entries);
}

/** Runs a model over everything under an S3 prefix. */
export class BatchTransform extends Construct {
  readonly stateMachine: StateMachine;
  /** What an execution without input runs with. */
  readonly defaults: TransformSettings;

  constructor(scope: Construct, id: string, props: BatchTransformProps) {
    super(scope, id);
    checkBatch(this, props);
    this.defaults = this.defaultSettings(props);
    const jobNamePrefix = Names.uniqueResourceName(this, { maxLength: 26, separator: '-' })
      .toLowerCase()
      .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '');
    grantModel(this, props);
    const shardFunction = createShardFunction(this, props);
    const logGroup = new LogGroup(this, 'Log', {
      retention: RetentionDays.THREE_MONTHS,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const stack = Stack.of(this);
    this.stateMachine = new StateMachine(this, 'StateMachine', {
      comment: `Batch transform of ${props.model.node.path}`,
      definitionBody: DefinitionBody.fromString(
        stack.toJsonString(
          definition({
            modelName: props.model.modelName,
            jobNamePrefix,
            defaults: stack.toJsonString(this.defaults),
            shardFunctionArn: shardFunction.functionArn,
            tags: props.jobTags ?? {},
            ...(props.topic && { topicArn: props.topic.topicArn }),
            ...(props.outputKey && { outputKeyArn: props.outputKey.keyArn }),
            ...(props.volumeKey && { volumeKeyArn: props.volumeKey.keyArn }),
          }),
        ),
      ),
      logs: { destination: logGroup, level: LogLevel.ALL },
      tracingEnabled: true,
    });
    props.topic?.grantPublish(this.stateMachine);
    grantJobs(this.stateMachine, jobNamePrefix, shardFunction, props);
    grantShards(this, this.stateMachine, props.output);
    stopJobsOfEndedRuns(this, this.stateMachine, jobNamePrefix);
    this.addStarts(props);
  }

  private defaultSettings(props: BatchTransformProps): TransformSettings {
    const instanceType = props.instanceType ?? DEFAULT_SETTINGS.instanceType;
    const { sharding } = props;
    const fallbacks = this.fallbacks(props, instanceType);
    return {
      ...DEFAULT_SETTINGS,
      ...given(props),
      ...(props.invocationsTimeout && {
        invocationsTimeoutInSeconds: props.invocationsTimeout.toSeconds(),
      }),
      ...(sharding && given(sharding)),
      inputUri: props.input.bucket.s3UrlForObject(props.input.prefix),
      fallbacks,
      outputUri: props.output.bucket.s3UrlForObject(props.output.prefix),
      transformAmiVersion:
        chooseAmi(
          this,
          'instanceType',
          'transform',
          instanceType,
          props.model.image.platform,
          props.transformAmiVersion,
        ) ?? '',
    };
  }

  private fallbacks(props: BatchTransformProps, instanceType: string): FallbackType[] {
    const { platform } = props.model.image;
    const types = props.fallbackInstanceTypes ?? fallbackTypes(instanceType);
    if (props.fallbackInstanceTypes === undefined && types.length > 0) {
      Annotations.of(this).addInfo(
        `${instanceType}: AWS is taking P3 instances away. Where it is refused or has no capacity, jobs run on ${types.join(', then ')}; choose with fallbackInstanceTypes`,
      );
    }
    return types.map((type, i) => {
      const prop = `fallbackInstanceTypes[${i}]`;
      const transformAmiVersion = chooseAmi(this, prop, 'transform', type, platform) ?? '';
      return { instanceType: type, transformAmiVersion };
    });
  }

  private addStarts(props: BatchTransformProps): void {
    if (props.schedule) {
      new Rule(this, 'Schedule', {
        schedule: props.schedule,
        targets: [
          new SfnStateMachine(this.stateMachine, { input: RuleTargetInput.fromObject({}) }),
        ],
      });
    }
    if (props.runOnDeploy) {
      new Rule(this, 'Deployed', {
        eventPattern: {
          source: ['aws.cloudformation'],
          detailType: ['CloudFormation Stack Status Change'],
          detail: {
            'stack-id': [Aws.STACK_ID],
            'status-details': { status: ['CREATE_COMPLETE', 'UPDATE_COMPLETE'] },
          },
        },
        targets: [
          new SfnStateMachine(this.stateMachine, { input: RuleTargetInput.fromObject({}) }),
        ],
      });
    }
    if (props.startOnManifest !== undefined) this.startOnManifest(props, props.startOnManifest);
  }

  private startOnManifest({ input }: BatchTransformProps, suffix: string): void {
    const rule = new Rule(this, 'ManifestUploaded', {
      eventPattern: {
        source: ['aws.s3'],
        detailType: ['Object Created'],
        detail: {
          bucket: { name: [input.bucket.bucketName] },
          object: { key: [{ wildcard: `${input.prefix}*${suffix}` }] },
        },
      },
    });
    rule.addTarget(
      new SfnStateMachine(this.stateMachine, {
        input: RuleTargetInput.fromObject({
          dataType: 'ManifestFile',
          inputUri: `s3://${EventField.fromPath('$.detail.bucket.name')}/${EventField.fromPath('$.detail.object.key')}`,
        }),
      }),
    );
  }
}
