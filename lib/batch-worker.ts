/** Batch inference on AWS Batch: the serving image as a worker, on spot instances, with no HTTP and no job of SageMaker. */
import {
  Action,
  AllocationStrategy,
  EcsEc2ContainerDefinition,
  EcsJobDefinition,
  EcsMachineImageType,
  JobQueue,
  JobStateTimeLimitActionsReason,
  ManagedEc2EcsComputeEnvironment,
  Reason,
  RetryStrategy,
} from 'aws-cdk-lib/aws-batch';
import { InstanceType, type IVpc } from 'aws-cdk-lib/aws-ec2';
import { ContainerImage, LogDriver } from 'aws-cdk-lib/aws-ecs';
import { type IRuleTarget, Rule, type Schedule } from 'aws-cdk-lib/aws-events';
import { BatchJob } from 'aws-cdk-lib/aws-events-targets';
import { Grant, type IGrantable, type IRole, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Annotations, Aws, Duration, Names, Resource } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { tellOfBlockedQueue, tellOfEndedJobs } from './batch/tell-of-ends.ts';
import { checkWorker } from './batch-worker/check-props.ts';
import {
  DEFAULT_ATTEMPTS,
  DEFAULT_WORKERS,
  workerCommand,
  workerParameters,
} from './batch-worker/command.ts';
import { mostVcpus, typesOf, WORKER_MEMORY, WORKER_VCPUS } from './batch-worker/instance-types.ts';
import { launchTemplateOf, nameVersion } from './batch-worker/launch-template.ts';
import { createExecutionRole, createWorkerRole } from './batch-worker/permissions.ts';
import type { BatchWorkerProps } from './batch-worker/props.ts';
import { tagInstancesAlone, updateTimeoutOf } from './batch-worker/updates.ts';
import { createLogGroup, setEncryptionKey, setFormerKeys } from './encryption.ts';
import { eventsRole } from './event-role.ts';
import { warnOfImporters } from './stack-references.ts';
import { keepUnstarted } from './undelivered.ts';
import { justifyManagedPolicy, justifyWildcard } from './wildcards.ts';

/** As long as SageMaker lets a Processing job run. */
const DEFAULT_TIMEOUT = Duration.days(5);

/** No instance will ever suit the job: how long AWS Batch waits at least. */
const MISCONFIGURED = {
  maxTime: Duration.minutes(10),
  reasons: [
    JobStateTimeLimitActionsReason.JOB_RESOURCE_REQUIREMENT,
    JobStateTimeLimitActionsReason.COMPUTE_ENVIRONMENT_MAX_RESOURCE,
  ],
};

/**
 * When a worker starts again; the first that matches counts, and AWS Batch takes five. Whoever takes an instance back asks
 * the worker to end (143) for the same reason, so that status needs no rule of its own.
 * @see https://docs.aws.amazon.com/batch/latest/APIReference/API_EvaluateOnExit.html
 * @see https://docs.aws.amazon.com/AmazonECS/latest/developerguide/out-of-memory.html
 */
const RETRIES = [
  RetryStrategy.of(Action.RETRY, Reason.SPOT_INSTANCE_RECLAIMED),
  RetryStrategy.of(Action.RETRY, Reason.CANNOT_PULL_CONTAINER),
  // Its status is 137 too, and the next one would need as much.
  RetryStrategy.of(Action.EXIT, Reason.custom({ onReason: 'OutOfMemoryError*' })),
  RetryStrategy.of(Action.RETRY, Reason.custom({ onExitCode: '137' })),
  RetryStrategy.of(Action.EXIT, Reason.custom({ onReason: '*' })),
];

/**
 * Runs a model over everything under an S3 prefix with workers on EC2 instances, spot instances unless told
 * otherwise. A run is an array job of AWS Batch: submit one to `queue` with `definition`, by
 * `sagemaker-tfs batch start --engine batch`, or by `schedule`. It can be run again at any time: what has an answer
 * is not done again.
 */
export class BatchWorker extends Resource {
  /** Takes jobs. */
  readonly queue: JobQueue;
  /** The job; its parameters `input` and `output` are S3 URIs, with the props' places as default. */
  readonly definition: EcsJobDefinition;
  /**
   * Name of the definition without a revision: AWS Batch takes the latest active one. Every deployment that changes the job
   * makes another revision, and deregisters the one before, which `definition.jobDefinitionArn` names.
   * @see https://docs.aws.amazon.com/batch/latest/APIReference/API_SubmitJob.html
   */
  readonly definitionName: string;
  readonly computeEnvironment: ManagedEc2EcsComputeEnvironment;
  /** Role of the workers. */
  readonly role: IRole;
  /** Workers of a run. */
  readonly workers: number;

  constructor(scope: Construct, id: string, props: BatchWorkerProps) {
    super(scope, id);
    setEncryptionKey(this, props.encryptionKey);
    setFormerKeys(this, props.formerEncryptionKeys);
    checkWorker(this, props);
    this.workers = props.workers ?? DEFAULT_WORKERS;
    this.role = createWorkerRole(this, props);
    this.computeEnvironment = this.createInstances(props);
    this.queue = this.createQueue(props);
    // Its digest tells stacks apart: definitions of one name would be revisions of each other.
    this.definitionName = Names.uniqueResourceName(this, { maxLength: 128, separator: '-' });
    this.definition = this.createDefinition(props);
    const change = 'model, image or settings of the worker';
    warnOfImporters(this, 'definition', this.definition.jobDefinitionArn, change);
    if (props.schedule) this.runOn(props.schedule, props.topic);
    if (props.topic) {
      tellOfEndedJobs(this, this.queue.jobQueueArn, props.topic);
      tellOfBlockedQueue(this, this.queue.jobQueueArn, props.topic);
    }
  }

  /**
   * Lets `grantee` start runs, with tags too, and look at them. Every revision of the job may be started: each deployment
   * makes another, and whoever names the job without its revision asks for the newest.
   * @see https://docs.aws.amazon.com/batch/latest/userguide/iam-example-restrict-job-submission.html
   */
  grantStart(grantee: IGrantable): Grant {
    const jobs = this.stack.formatArn({ service: 'batch', resource: 'job', resourceName: '*' });
    const allow = (actions: string[], resourceArns: string[]) =>
      Grant.addToPrincipal({ grantee, actions, resourceArns });
    const looks = ['batch:DescribeJobDefinitions', 'batch:DescribeJobs', 'batch:ListJobs'];
    return allow(['batch:SubmitJob'], [...this.definitionArns, this.queue.jobQueueArn])
      .combine(allow(['batch:TagResource'], [jobs]))
      .combine(allow(looks, ['*']));
  }

  /**
   * What a request that names no revision is checked against: the latest one, as AWS documents it, or the name alone, as
   * others have seen it.
   * @see https://docs.aws.amazon.com/batch/latest/userguide/iam-example-restrict-job-submission.html
   * @see https://github.com/aws/aws-sdk-js/issues/4280
   */
  private get definitionArns(): [withoutRevision: string, withAnyRevision: string] {
    const arn = this.stack.formatArn({
      service: 'batch',
      resource: 'job-definition',
      resourceName: this.definitionName,
    });
    return [arn, `${arn}:*`];
  }

  private createInstances(props: BatchWorkerProps): ManagedEc2EcsComputeEnvironment {
    const { spot = true, vcpus = WORKER_VCPUS, vpcSubnets, securityGroups, model } = props;
    const { accelerator } = model.image.platform;
    const types = typesOf(this, props);
    const launchTemplate = launchTemplateOf(this, props);
    const instances = new ManagedEc2EcsComputeEnvironment(this, 'Instances', {
      vpc: props.vpc as IVpc,
      ...(vpcSubnets && { vpcSubnets }),
      ...(securityGroups && { securityGroups: [...securityGroups] }),
      instanceTypes: types.map((type) => new InstanceType(type)),
      launchTemplate,
      useOptimalInstanceClasses: false,
      spot,
      allocationStrategy: spot
        ? AllocationStrategy.SPOT_PRICE_CAPACITY_OPTIMIZED
        : AllocationStrategy.BEST_FIT_PROGRESSIVE,
      maxvCpus: this.workers * mostVcpus(types, vcpus),
      images: [
        {
          imageType:
            accelerator === 'gpu'
              ? EcsMachineImageType.ECS_AL2023_NVIDIA
              : EcsMachineImageType.ECS_AL2023,
        },
      ],
      updateToLatestImageVersion: true,
      updateTimeout: updateTimeoutOf(this, props.timeout ?? DEFAULT_TIMEOUT),
    });
    tagInstancesAlone(instances);
    nameVersion(instances, launchTemplate);
    // https://docs.aws.amazon.com/batch/latest/userguide/instance_IAM_role.html
    justifyManagedPolicy(
      instances,
      'service-role/AmazonEC2ContainerServiceforEC2Role',
      'AWS keeps this policy as the agent of ECS on an instance needs it; workers have a role of their own',
    );
    return instances;
  }

  /**
   * Without limits AWS Batch waits for ever, and whoever started the run with it.
   * @see https://docs.aws.amazon.com/batch/latest/userguide/job_stuck_in_runnable_time_limit_actions.html
   */
  private createQueue(props: BatchWorkerProps): JobQueue {
    const { maxTime, reasons } = MISCONFIGURED;
    return new JobQueue(this, 'Queue', {
      computeEnvironments: [{ computeEnvironment: this.computeEnvironment, order: 1 }],
      jobStateTimeLimitActions: [
        ...reasons.map((reason) => ({ maxTime, reason })),
        {
          maxTime: props.provisioningTimeout ?? Duration.days(1),
          reason: JobStateTimeLimitActionsReason.INSUFFICIENT_INSTANCE_CAPACITY,
        },
      ],
    });
  }

  private createDefinition(props: BatchWorkerProps): EcsJobDefinition {
    const { model, vcpus = WORKER_VCPUS, memory = WORKER_MEMORY } = props;
    const { environment } = model;
    const container = new EcsEc2ContainerDefinition(this, 'Container', {
      image: ContainerImage.fromRegistry(model.image.imageUri),
      command: workerCommand(this, props, model.data.container.modelDataUrl ?? ''),
      // Agents of ECS before 2026 set none: https://github.com/aws/amazon-ecs-agent/pull/4946
      environment: { AWS_REGION: Aws.REGION, ...environment },
      cpu: vcpus,
      memory,
      ...(model.image.platform.accelerator === 'gpu' && { gpu: 1 }),
      jobRole: this.role,
      executionRole: createExecutionRole(this, props),
      logging: LogDriver.awsLogs({
        logGroup: createLogGroup(this, 'Log', RetentionDays.THREE_MONTHS),
        streamPrefix: 'worker',
      }),
    });
    // The execution role has them.
    Annotations.of(container).acknowledgeWarning('@aws-cdk/aws-ecs:ecrImageRequiresPolicy');
    return new EcsJobDefinition(this, 'Definition', {
      jobDefinitionName: this.definitionName,
      container,
      parameters: { ...workerParameters(props) },
      retryAttempts: props.attempts ?? DEFAULT_ATTEMPTS,
      retryStrategies: RETRIES,
      timeout: props.timeout ?? DEFAULT_TIMEOUT,
      propagateTags: true,
    });
  }

  private runOn(schedule: Schedule, topic: ITopic | undefined): void {
    const role = eventsRole(this.definition);
    const [definition, withRevision] = this.definitionArns;
    role.addToPrincipalPolicy(
      new PolicyStatement({ actions: ['batch:SubmitJob'], resources: [withRevision] }),
    );
    justifyWildcard(role, withRevision, 'Every deployment makes another revision of the job');
    const target = new BatchJob(this.queue.jobQueueArn, this.queue, definition, this.definition, {
      ...(this.workers > 1 && { size: this.workers }),
      deadLetterQueue: keepUnstarted(this, topic),
    });
    // An event between the update of the job and that of the rule would name a revision that is deregistered.
    const bind: IRuleTarget['bind'] = (rule, id) => {
      const { batchParameters: named, ...config } = target.bind(rule, id);
      return named
        ? { ...config, batchParameters: { ...named, jobDefinition: this.definitionName } }
        : config;
    };
    new Rule(this, 'Schedule', { schedule, targets: [{ bind }] }).node.addDependency(
      this.definition,
    );
  }
}
