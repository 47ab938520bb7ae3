/** Starts a deployment when a version is approved, or when a pointer in S3 changes. */
import { EventField, type EventPattern, Rule, RuleTargetInput } from 'aws-cdk-lib/aws-events';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { eventsRole } from './event-role.ts';
import { invalidProp } from './validation.ts';

/** Names of the variables that a deployment is started with. */
const REDEPLOY_VARIABLES = {
  /** ARN of the version that was approved. */
  package: 'MODEL_PACKAGE_ARN',
  /** `s3://BUCKET/KEY` of the pointer that changed. */
  pointer: 'MODEL_POINTER',
} as const;

/** Props of {@link Redeployment}: one cause and one target. */
export interface RedeploymentProps {
  /**
   * Name of a model package group: a version of it that is approved is the cause. The version's ARN is the variable
   * `MODEL_PACKAGE_ARN`.
   * @default - `pointer` is the cause
   */
  readonly approvedIn?: string;
  /**
   * An object of S3: a change of it is the cause. Its URI is the variable `MODEL_POINTER`. Its bucket must send its events
   * to EventBridge (`eventBridgeEnabled`).
   * @default - `approvedIn` is the cause
   */
  readonly pointer?: { readonly bucketName: string; readonly key: string };
  /**
   * A project of CodeBuild, which gets the variable as one of its environment.
   * @default - `pipeline` is started
   */
  readonly project?: { readonly projectArn: string };
  /**
   * A pipeline of CodePipeline, of type V2, which gets the variable as one of the pipeline's; it must declare it.
   * @default - `project` is started
   */
  readonly pipeline?: { readonly pipelineArn: string };
}

/**
 * A rule of EventBridge that starts a build or a pipeline. SageMaker may send an event more than once, so the
 * deployment must be one that can run twice, as `cdk deploy` is.
 * @see https://docs.aws.amazon.com/sagemaker/latest/dg/automating-sagemaker-with-eventbridge.html
 */
export class Redeployment extends Construct {
  readonly rule: Rule;

  constructor(scope: Construct, id: string, props: RedeploymentProps) {
    super(scope, id);
    const { description, eventPattern, variable, value } = causeOf(this, props);
    this.rule = new Rule(this, 'Rule', { description, eventPattern });
    const { arn, action, input } = targetOf(this, props, variable, value);
    const role = eventsRole(this);
    role.addToPolicy(new PolicyStatement({ actions: [action], resources: [arn] }));
    this.rule.addTarget({ bind: () => ({ arn, role, input: RuleTargetInput.fromObject(input) }) });
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
  readonly variable: string;
  readonly value: string;
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
      variable: REDEPLOY_VARIABLES.package,
      value: EventField.fromPath('$.detail.ModelPackageArn'),
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
      variable: REDEPLOY_VARIABLES.pointer,
      value: `s3://${bucketName}/${key}`,
    };
  }
  const problem = approvedIn === undefined ? 'there is no cause' : 'there are two causes';
  return invalidProp(scope, 'approvedIn', problem, `Give either 'approvedIn' or 'pointer'`);
}

/**
 * What is started, and with what.
 * @see https://docs.aws.amazon.com/codebuild/latest/APIReference/API_StartBuild.html
 * @see https://docs.aws.amazon.com/codepipeline/latest/APIReference/API_StartPipelineExecution.html
 */
function targetOf(
  scope: Construct,
  { project, pipeline }: RedeploymentProps,
  name: string,
  value: string,
) {
  if (project && !pipeline) {
    return {
      arn: project.projectArn,
      action: 'codebuild:StartBuild',
      input: { environmentVariablesOverride: [{ name, value, type: 'PLAINTEXT' }] },
    };
  }
  if (pipeline && !project) {
    return {
      arn: pipeline.pipelineArn,
      action: 'codepipeline:StartPipelineExecution',
      input: { variables: [{ name, value }] },
    };
  }
  const problem = project ? 'there are two targets' : 'there is no target';
  return invalidProp(scope, 'project', problem, `Give either 'project' or 'pipeline'`);
}
