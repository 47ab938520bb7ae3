/** Batch transform: a state machine that runs SageMaker transform jobs to completion, sharded if asked. */
import { MAX_JOB_PREFIX } from '@sagemaker-tfs/batch';
import { fallbackTypes } from '@sagemaker-tfs/batch/instance-types';
import {
  DEFAULT_SETTINGS,
  defaultAssembly,
  type FallbackType,
  type TransformSettings,
} from '@sagemaker-tfs/batch/settings';
import type { Metric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { EventField, Rule, RuleTargetInput } from 'aws-cdk-lib/aws-events';
import { SfnStateMachine } from 'aws-cdk-lib/aws-events-targets';
import type { Grant, IGrantable } from 'aws-cdk-lib/aws-iam';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { DefinitionBody, LogLevel, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Annotations, Aws, Names, Resource, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { checkBatch } from './batch/check-props.ts';
import { contentTypeOf } from './batch/content-type.ts';
import { definition } from './batch/definition.ts';
import { encryptMachine, grantReadRuns } from './batch/machine-key.ts';
import { grantJobs, grantModel, grantShards } from './batch/permissions.ts';
import type { BatchTransformProps } from './batch/props.ts';
import { createShardFunction } from './batch/shard-function.ts';
import { createJobStopper } from './batch/stop-jobs.ts';
import { tellOfSilentEnds } from './batch/tell-of-ends.ts';
import {
  allowInventory,
  createLogGroup,
  encryptionKeyOf,
  setEncryptionKey,
  setFormerKeys,
} from './encryption.ts';
import { eventsRole } from './event-role.ts';
import { chooseAmi } from './inference-ami.ts';
import { checkRegion } from './instance-types/regions.ts';
import { warnOfExport } from './stack-references.ts';
import { keepUnstarted } from './undelivered.ts';

/** `input` of an execution: any of these, the rest comes from the props. */
export type BatchTransformInput = Partial<TransformSettings>;

/** Names the event of a rule, which may start several runs: its schedule's time, or that of the deployment. */
const EVENT_TIME: BatchTransformInput = { event: EventField.fromPath('$.time') };

/** Minutes of a week: nothing starts the run of a manifest again. */
const MANIFEST_WAITS = 7 * 24 * 60;

/** Those of an object's properties that are settings. */
function given(props: object): Partial<TransformSettings> {
  const entries = Object.entries(props).filter(
    ([name, value]) => name in DEFAULT_SETTINGS && value !== undefined,
  );
  return Object.fromEntries(entries);
}

/** Props with the one key, unless another is named. */
function withKeys(scope: Construct, props: BatchTransformProps): BatchTransformProps {
  const key = encryptionKeyOf(scope);
  return key
    ? { ...props, volumeKey: props.volumeKey ?? key, outputKey: props.outputKey ?? key }
    : props;
}

/**
 * A name that needs no line in CloudWatch Logs' resource policy, whose 5,120 characters all state machines of a region share.
 * @see https://docs.aws.amazon.com/step-functions/latest/dg/bp-cwl.html
 */
function logName(scope: Construct): string {
  return `/aws/vendedlogs/states/${Names.uniqueResourceName(scope, { maxLength: 200, separator: '-' })}`;
}

/** Runs a model over everything under an S3 prefix. */
export class BatchTransform extends Resource {
  readonly stateMachine: StateMachine;
  /** What an execution without input runs with. */
  readonly defaults: TransformSettings;

  constructor(scope: Construct, id: string, own: BatchTransformProps) {
    super(
      scope,
      id,
      own.stateMachineName === undefined ? {} : { physicalName: own.stateMachineName },
    );
    setEncryptionKey(this, own.encryptionKey);
    setFormerKeys(this, own.formerEncryptionKeys);
    checkBatch(this, own);
    const props = withKeys(this, own);
    this.defaults = this.defaultSettings(props);
    const jobNamePrefix = Names.uniqueResourceName(this, {
      maxLength: MAX_JOB_PREFIX,
      separator: '-',
    })
      .toLowerCase()
      .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '');
    grantModel(this, props);
    warnOfExport(this, [props.model]);
    const shardFunction = createShardFunction(this, props);
    const stopper = createJobStopper(this, jobNamePrefix);
    const key = encryptionKeyOf(this);
    const logGroup = createLogGroup(this, 'Log', RetentionDays.THREE_MONTHS, key, logName(this));
    const stack = Stack.of(this);
    this.stateMachine = new StateMachine(this, 'StateMachine', {
      ...(own.stateMachineName !== undefined && { stateMachineName: this.physicalName }),
      ...(own.role && { role: own.role }),
      comment: `Batch transform of ${props.model.node.path}`,
      definitionBody: DefinitionBody.fromString(
        stack.toJsonString(
          definition({
            modelName: props.model.modelName,
            jobNamePrefix,
            defaults: stack.toJsonString(this.defaults),
            shardFunctionArn: shardFunction.functionArn,
            stopFunctionArn: stopper.handler.functionArn,
            tags: props.jobTags ?? {},
            ...(props.topic && { topicArn: props.topic.topicArn }),
            ...(props.noticesAt && { noticesAt: props.noticesAt }),
            ...(props.outputKey && { outputKeyArn: props.outputKey.keyArn }),
            ...(props.volumeKey && { volumeKeyArn: props.volumeKey.keyArn }),
          }),
        ),
      ),
      logs: { destination: logGroup, level: LogLevel.ALL },
      tracingEnabled: true,
    });
    encryptMachine(this.stateMachine);
    if (props.topic) {
      props.topic.grantPublish(this.stateMachine);
      tellOfSilentEnds(this, this.stateMachine, props.topic);
    }
    grantJobs(this.stateMachine, jobNamePrefix, [shardFunction, stopper.handler], props);
    grantShards(this, this.stateMachine, props.output);
    const inventoryKey = props.inventory?.bucket.encryptionKey;
    if (inventoryKey) allowInventory(this, inventoryKey);
    stopper.watch(this.stateMachine, props.topic);
    this.addStarts(props);
  }

  /** Lets `grantee` start runs, and look at them and stop them. */
  grantStart(grantee: IGrantable): Grant {
    const started = this.stateMachine.grantStartExecution(grantee);
    const looked = this.stateMachine.grantExecution(
      grantee,
      'states:DescribeExecution',
      'states:StopExecution',
    );
    const reads = grantReadRuns(grantee, this.stateMachine);
    return reads.reduce((all, one) => all.combine(one), started.combine(looked));
  }

  /** Runs that were started. @default sum over 5 minutes */
  metricStarted(options?: MetricOptions): Metric {
    return this.stateMachine.metricStarted(options);
  }

  /** Runs that made every output. @default sum over 5 minutes */
  metricSucceeded(options?: MetricOptions): Metric {
    return this.stateMachine.metricSucceeded(options);
  }

  /** Runs that failed. @default sum over 5 minutes */
  metricFailed(options?: MetricOptions): Metric {
    return this.stateMachine.metricFailed(options);
  }

  /** Runs that were stopped. @default sum over 5 minutes */
  metricAborted(options?: MetricOptions): Metric {
    return this.stateMachine.metricAborted(options);
  }

  /** Milliseconds from a run's start to its end. @default average over 5 minutes */
  metricTime(options?: MetricOptions): Metric {
    return this.stateMachine.metricTime(options);
  }

  /** Any other metric of the state machine. @default average over 5 minutes */
  metric(metricName: string, options?: MetricOptions): Metric {
    return this.stateMachine.metric(metricName, options);
  }

  private defaultSettings(props: BatchTransformProps): TransformSettings {
    const instanceType = props.instanceType ?? DEFAULT_SETTINGS.instanceType;
    const { sharding } = props;
    const fallbacks = this.fallbacks(props, instanceType);
    checkRegion(this, 'instanceType', 'transform', instanceType, fallbacks.length === 0);
    return {
      ...DEFAULT_SETTINGS,
      assembleWith: defaultAssembly(props),
      ...given(props),
      contentType: contentTypeOf(this, props),
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
      checkRegion(this, prop, 'transform', type, i === types.length - 1);
      return { instanceType: type, transformAmiVersion };
    });
  }

  private addStarts(props: BatchTransformProps): void {
    const { schedule, runOnDeploy, startOnManifest, topic } = props;
    if (!schedule && !runOnDeploy && startOnManifest === undefined) return;
    const unstarted = keepUnstarted(this, topic);
    if (schedule) {
      new Rule(this, 'Schedule', { schedule, targets: [this.asTarget(EVENT_TIME, unstarted)] });
    }
    if (runOnDeploy) {
      new Rule(this, 'Deployed', {
        eventPattern: {
          source: ['aws.cloudformation'],
          detailType: ['CloudFormation Stack Status Change'],
          detail: {
            'stack-id': [Aws.STACK_ID],
            'status-details': { status: ['CREATE_COMPLETE', 'UPDATE_COMPLETE'] },
          },
        },
        targets: [this.asTarget(EVENT_TIME, unstarted)],
      });
    }
    if (startOnManifest !== undefined) this.startOnManifest(props, startOnManifest, unstarted);
  }

  private startOnManifest({ input }: BatchTransformProps, suffix: string, unstarted: IQueue): void {
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
    const manifest: BatchTransformInput = {
      waitMinutes: MANIFEST_WAITS,
      dataType: 'ManifestFile',
      inputUri: `s3://${EventField.fromPath('$.detail.bucket.name')}/${EventField.fromPath('$.detail.object.key')}`,
      // Another upload under the same key has another one.
      // https://docs.aws.amazon.com/AmazonS3/latest/userguide/ev-events.html
      event: `${EventField.fromPath('$.detail.object.sequencer')} ${EventField.fromPath('$.time')}`,
    };
    rule.addTarget(this.asTarget(manifest, unstarted));
  }

  /** A run with this input, as the target of a rule. */
  private asTarget(input: BatchTransformInput, unstarted: IQueue): SfnStateMachine {
    return new SfnStateMachine(this.stateMachine, {
      input: RuleTargetInput.fromObject(input),
      role: eventsRole(this.stateMachine),
      deadLetterQueue: unstarted,
    });
  }
}
