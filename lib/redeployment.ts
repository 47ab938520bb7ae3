/** Starts a deployment when a version is approved, or when a pointer in S3 changes. */
import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { type EventPattern, Rule } from 'aws-cdk-lib/aws-events';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { eventsRole } from './event-role.ts';
import { alarmOfUndelivered, allowUndelivered, keepUndelivered } from './undelivered.ts';
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
    this.undelivered = keepUndelivered(this);
    allowUndelivered(this.undelivered, this.rule.ruleArn);
    const deadLetterConfig = { arn: this.undelivered.queueArn };
    this.rule.addTarget({ bind: () => ({ arn, role, deadLetterConfig }) });
    const advice = `Did not start: ${description}. Start it by hand, and empty the queue`;
    this.alarm = alarmOfUndelivered(this, this.undelivered, advice, props.alarmTopic);
  }
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
