/** A SageMaker model: an image, model data, and the role that runs them. */
import type { Connections, IConnectable } from 'aws-cdk-lib/aws-ec2';
import { type IGrantable, type IPrincipal, Policy, type Role } from 'aws-cdk-lib/aws-iam';
import { CfnModel } from 'aws-cdk-lib/aws-sagemaker';
import { Annotations, Aws, CfnDeletionPolicy, Stack, Token } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { unbatchable } from '../container/src/model-server/unbatchable.ts';
import { type RuntimeEnvironment, renderEnvironment } from './environment.ts';
import type { ModelData, ModelDataConfig } from './model-data/index.ts';
import { allowLogging, allowVpc, createModelRole } from './model-role.ts';
import { imageProblem } from './rules/limits.ts';
import type { IServingImage } from './serving-image.ts';
import { invalidProp, refuseProblem } from './validation.ts';
import { attachToVpc, type VpcAttachmentProps } from './vpc-attachment.ts';

/** Props of {@link TensorFlowModel}. */
export interface TensorFlowModelProps extends VpcAttachmentProps {
  /** Image that serves the model. */
  readonly image: IServingImage;
  /** The model's files and handler. */
  readonly modelData: ModelData;
  /**
   * Settings of the serving runtime.
   * @default - the runtime's own defaults
   */
  readonly environment?: RuntimeEnvironment;
  /**
   * Variables that the handler reads.
   * @default - none
   */
  readonly handlerEnvironment?: Readonly<Record<string, string>>;
  /**
   * Cuts the container off from every network, as nothing in it needs one. Turn off for handlers that
   * call other services, and for serverless endpoints, which do not allow it.
   * @default true
   */
  readonly networkIsolation?: boolean;
}

/**
 * A model that endpoints and transform jobs run. SageMaker's models cannot be changed: every change makes
 * a new one, then removes the old.
 */
export class TensorFlowModel extends Construct implements IGrantable, IConnectable {
  readonly role: Role;
  readonly grantPrincipal: IPrincipal;
  readonly image: IServingImage;
  readonly data: ModelDataConfig;
  readonly networkIsolation: boolean;
  /** Whether instances are attached to a VPC. */
  readonly inVpc: boolean;
  private readonly resource: CfnModel;
  private readonly vpcConnections: Connections | undefined;

  constructor(scope: Construct, id: string, props: TensorFlowModelProps) {
    super(scope, id);
    this.image = props.image;
    this.networkIsolation = props.networkIsolation ?? true;
    this.inVpc = props.vpc !== undefined;
    this.role = createModelRole(this);
    this.grantPrincipal = this.role;
    this.data = props.modelData.bind(this);
    if (this.data.multiModel && props.image.variant === 'in-process') {
      invalidProp(
        this,
        'modelData',
        `multi-model data needs an image that declares SageMaker's multi-models capability, and the 'in-process' image does not`,
        `Use an image with variant 'cpu', or one model for each endpoint`,
      );
    }
    if (this.data.multiModel && props.image.platform.accelerator === 'gpu') {
      // https://docs.aws.amazon.com/sagemaker/latest/dg/multi-model-support.html
      const problem = `multi-model endpoints on GPUs exist only with NVIDIA Triton's container`;
      const fix = `Use an image with variant 'cpu' on a CPU type, or one model for each endpoint`;
      invalidProp(this, 'modelData', problem, fix);
    }
    const environment = renderEnvironment(
      this,
      props.image.variant,
      props.environment,
      props.handlerEnvironment,
    );
    if (isBatchedByServer(environment)) warnOfBatching(this, this.data);
    const permissions = [props.image.grantPull(this.role), this.grantReadData()];
    checkImage(this, props.image.imageUri);
    const vpc = attachToVpc(this, props);
    if (vpc) allowVpc(this.role, vpc.config.subnets, vpc.config.securityGroupIds);
    this.vpcConnections = vpc?.connections;
    this.resource = new CfnModel(this, 'Resource', {
      executionRoleArn: this.role.roleArn,
      enableNetworkIsolation: this.networkIsolation,
      primaryContainer: {
        image: props.image.imageUri,
        ...this.data.container,
        ...(Object.keys(environment).length > 0 && { environment }),
      },
      ...(vpc && { vpcConfig: vpc.config }),
    });
    // SageMaker checks these permissions when the model is created.
    this.resource.node.addDependency(this.role, ...permissions);
    if (this.data.dependency) this.resource.node.addDependency(this.data.dependency);
  }

  /** Name that CloudFormation gave; another after every change. */
  get modelName(): string {
    return this.resource.attrModelName;
  }

  get modelArn(): string {
    return this.resource.ref;
  }

  /** Security groups of the instances. @throws where the model is not in a VPC */
  get connections(): Connections {
    if (this.vpcConnections) return this.vpcConnections;
    return invalidProp(this, 'vpc', 'the model has no connections', 'Give it a vpc');
  }

  /** Lets containers of this model write to a log group of SageMaker's. */
  allowLogging(logGroup: string): void {
    allowLogging(this.role, logGroup);
  }

  /**
   * Keeps models of earlier deployments, and their leave to read their archives: a job that was started
   * before a deployment goes on, and so do the shards after it. They cost nothing; docs/batch.md tells how to
   * delete them.
   * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-updatereplacepolicy.html
   */
  keepReplaced(): void {
    this.resource.cfnOptions.updateReplacePolicy = CfnDeletionPolicy.RETAIN;
    this.resource.cfnOptions.deletionPolicy = CfnDeletionPolicy.DELETE;
    // By which they are found: SageMaker's names of models do not tell the stack.
    this.resource.tags.setTag('sagemaker-tfs:stack', Aws.STACK_NAME);
    const { grantReadAll } = this.data;
    if (!grantReadAll || this.node.tryFindChild('ReadEarlierModels')) return;
    // A policy of a revision would go with it, and one that is kept would keep the role from being deleted.
    const policy = new Policy(this, 'ReadEarlierModels');
    this.role.attachInlinePolicy(policy);
    grantReadAll(policy);
  }

  /**
   * The permission is a policy of its own for every revision: during an update the old model's instances
   * can still be started, and after a rollback they must be.
   */
  private grantReadData(): Policy {
    const policy = new Policy(this, `ReadModelData${this.data.revision.slice(0, 8)}`);
    this.role.attachInlinePolicy(policy);
    this.data.grantRead(policy);
    return policy;
  }
}

/** Refuses an image that this model's region cannot pull, where both are known. */
function checkImage(scope: Construct, uri: string): void {
  if (Token.isUnresolved(uri)) return;
  const { region } = Stack.of(scope);
  const known = Token.isUnresolved(region) ? undefined : region;
  refuseProblem(scope, 'image', imageProblem(uri, known));
}

function isBatchedByServer(environment: Readonly<Record<string, string>>): boolean {
  const { SAGEMAKER_TFS_ENABLE_BATCHING: batching, SAGEMAKER_TFS_BACKEND: backend } = environment;
  return batching?.toLowerCase() === 'true' && backend !== 'in-process';
}

/** Where the model was packaged here; the container's log says the same of others. */
function warnOfBatching(scope: Construct, { manifest }: ModelDataConfig): void {
  for (const { name, signatures } of manifest?.models ?? []) {
    for (const warning of unbatchable(signatures)) {
      const text = `environment.SAGEMAKER_TFS_ENABLE_BATCHING: of model "${name}", ${warning}`;
      Annotations.of(scope).addWarningV2('@sagemaker-tfs/cdk:unbatchable', text);
    }
  }
}
