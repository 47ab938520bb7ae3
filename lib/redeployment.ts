/** Starts a deployment when a version is approved, or when a pointer in S3 changes. */
import { Alarm, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { type EventPattern, Rule } from 'aws-cdk-lib/aws-events';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Duration } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { eventsRole } from './event-role.ts';
import { invalidProp } from './validation.ts';

/** Props of {@link Redeployment}: one cause and one target. */
export interface RedeploymentProps {
  /**
   * Name of a model package group: a version of it that is approved is the cause.
   * @default - `pointer` is the cause
   */
  readonly approvedIn?: string;
  /**
   * An object of S3: a change of it is the cause. Its bucket must send its events to EventBridge (`eventBridgeEnabled`).
   * @default - `approvedIn` is the cause
   */
  readonly pointer?: { readonly bucketName: string; readonly key: string };
  /**
   * A project of CodeBuild.
   * @default - `pipeline` is started
   */
  readonly project?: { readonly projectArn: string };
  /**
   * A pipeline of CodePipeline.
   * @default - `project` is started
   */
  readonly pipeline?: { readonly pipelineArn: string };
  /**
   * Receives messages about the alarm.
   * @default - nobody
   */
  readonly alarmTopic?: ITopic;
}

/**
 * A rule of EventBridge that starts a build or a pipeline, and tells it nothing: every deployment, whoever starts it,
 * reads which version is the newest approved one, or what the pointer says. So none puts an older one back. SageMaker may
 * send an event more than once, so the deployment must be one that can run twice, as `cdk deploy` is.
 * @see https://docs.aws.amazon.com/sagemaker/latest/dg/automating-sagemaker-with-eventbridge.html
 */
export class Redeployment extends Construct {
  readonly rule: Rule;
  /** Events that started nothing: the target is gone, or refused them. They are kept for 14 days. */
  readonly undelivered: Queue;
  /** Some event started nothing. It stays until the queue is empty. */
  readonly alarm: Alarm;

  constructor(scope: Construct, id: string, props: RedeploymentProps) {
    super(scope, id);
    const { description, eventPattern } = causeOf(this, props);
    this.rule = new Rule(this, 'Rule', { description, eventPattern });
    const { arn, action } = targetOf(this, props);
    const role = eventsRole(this);
    role.addToPolicy(new PolicyStatement({ actions: [action], resources: [arn] }));
    this.undelivered = queueOf(this, this.rule);
    const deadLetterConfig = { arn: this.undelivered.queueArn };
    this.rule.addTarget({ bind: () => ({ arn, role, deadLetterConfig }) });
    this.alarm = new Alarm(this, 'Alarm', {
      alarmDescription: `Did not start: ${description}. Start it by hand, and empty the queue`,
      metric: this.undelivered.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum' }),
      threshold: 1,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    if (props.alarmTopic) this.alarm.addAlarmAction(new SnsAction(props.alarmTopic));
  }
}

/**
 * Where EventBridge puts what it cannot deliver. Under SQS's own key: a customer's would have to let EventBridge in by
 * its policy, and an event has no more than names.
 * @see https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-dlq.html
 */
function queueOf(scope: Construct, rule: Rule): Queue {
  const queue = new Queue(scope, 'Undelivered', {
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    retentionPeriod: Duration.days(14),
  });
  queue.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal('events.amazonaws.com')],
      actions: ['sqs:SendMessage'],
      resources: [queue.queueArn],
      conditions: { ArnEquals: { 'aws:SourceArn': rule.ruleArn } },
    }),
  );
  return queue;
}

/**
 * An edit of an approved version's metadata sends its status too, and must not bring an old version back. The event of a
 * new version names no changed fields.
 * @see https://docs.aws.amazon.com/sagemaker/latest/dg/automating-sagemaker-with-eventbridge.html#eventbridge-model-package
 * @see https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html
 */
const STATUS_CHANGED = [
  { UpdatedModelPackageFields: ['ModelApprovalStatus'] },
  { UpdatedModelPackageFields: [{ exists: false }] },
];

interface Cause {
  readonly description: string;
  readonly eventPattern: EventPattern;
}

function causeOf(scope: Construct, { approvedIn, pointer }: RedeploymentProps): Cause {
  if (approvedIn !== undefined && pointer === undefined) {
    return {
      description: `Deploys versions of ${approvedIn} that are approved`,
      eventPattern: {
        source: ['aws.sagemaker'],
        detailType: ['SageMaker Model Package State Change'],
        detail: {
          ModelPackageGroupName: [approvedIn],
          ModelApprovalStatus: ['Approved'],
          $or: STATUS_CHANGED,
        },
      },
    };
  }
  if (pointer !== undefined && approvedIn === undefined) {
    const { bucketName, key } = pointer;
    return {
      description: `Deploys when ${key} changes`,
      eventPattern: {
        source: ['aws.s3'],
        detailType: ['Object Created'],
        detail: { bucket: { name: [bucketName] }, object: { key: [key] } },
      },
    };
  }
  const problem = approvedIn === undefined ? 'there is no cause' : 'there are two causes';
  return invalidProp(scope, 'approvedIn', problem, `Give either 'approvedIn' or 'pointer'`);
}

/**
 * What is started. The event that comes along is ignored.
 * @see https://docs.aws.amazon.com/codebuild/latest/APIReference/API_StartBuild.html
 * @see https://docs.aws.amazon.com/codepipeline/latest/APIReference/API_StartPipelineExecution.html
 */
function targetOf(scope: Construct, { project, pipeline }: RedeploymentProps) {
  if (project && !pipeline) return { arn: project.projectArn, action: 'codebuild:StartBuild' };
  if (pipeline && !project) {
    return { arn: pipeline.pipelineArn, action: 'codepipeline:StartPipelineExecution' };
  }
  const problem = project ? 'there are two targets' : 'there is no target';
  return invalidProp(scope, 'project', problem, `Give either 'project' or 'pipeline'`);
}
