/** A SageMaker model: an image, model data, and the role that runs them. */
import { parseEcrImage, SAGEMAKER_NAME } from '@sagemaker-tfs/batch';
import { joinsRequests } from '@sagemaker-tfs/container/environment';
import { unbatchable } from '@sagemaker-tfs/container/unbatchable';
import type { Connections, IConnectable } from 'aws-cdk-lib/aws-ec2';
import { type IPrincipal, type IRole, Policy } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { CfnModel } from 'aws-cdk-lib/aws-sagemaker';
import { Annotations, Resource, Stack, Token } from 'aws-cdk-lib/core';
import type { Construct, IDependable } from 'constructs';
import { setEncryptionKey } from './encryption.ts';
import { type RuntimeEnvironment, renderEnvironment } from './environment.ts';
import { isInProcess } from './image-variant.ts';
import { type IModel, ImportedModel, type ModelAttributes } from './model.ts';
import type { ModelData, ModelDataConfig } from './model-data/index.ts';
import { allowMetrics, allowVpc, createModelRole } from './model-role.ts';
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
  /**
   * Role that SageMaker runs the containers with. It must trust `sagemaker.amazonaws.com` and be of the
   * stack's own account; what the model needs is added to its policies.
   * @default - a new one
   */
  readonly role?: IRole;
  /**
   * Name of the model: letters, digits and hyphens, 63 at most, unique in account and region. Models cannot be
   * changed, only replaced, and CloudFormation replaces nothing that has a fixed name: give another name with
   * every change.
   * @default - CloudFormation's, another after every change
   */
  readonly modelName?: string;
  /**
   * Key of the bucket of unpacked model data, and of the logs of what fills it.
   * @default - the key of the stack, or AWS's own keys
   */
  readonly encryptionKey?: IKey;
}

/**
 * A model that endpoints and transform jobs run. SageMaker's models cannot be changed: every change makes
 * a new one, then removes the old.
 */
export class TensorFlowModel extends Resource implements IModel, IConnectable {
  /** A model by its name, in the account and region of `scope`'s stack, on a CPU image of this project's. */
  static fromModelName(scope: Construct, id: string, modelName: string): IModel {
    return new ImportedModel(scope, id, { modelName });
  }

  /** A model by its name and what is known of it. */
  static fromModelAttributes(scope: Construct, id: string, attributes: ModelAttributes): IModel {
    return new ImportedModel(scope, id, attributes);
  }

  readonly role: IRole;
  readonly grantPrincipal: IPrincipal;
  readonly image: IServingImage;
  readonly data: ModelDataConfig;
  readonly networkIsolation: boolean;
  /** Whether instances are attached to a VPC. */
  readonly inVpc: boolean;
  /** Variables of its containers, as the props say them. */
  readonly environment: Readonly<Record<string, string>>;
  private readonly resource: CfnModel;
  private readonly vpcConnections: Connections | undefined;

  constructor(scope: Construct, id: string, props: TensorFlowModelProps) {
    super(scope, id, props.modelName === undefined ? {} : { physicalName: props.modelName });
    setEncryptionKey(this, props.encryptionKey);
    checkName(this, props.modelName);
    this.image = props.image;
    this.networkIsolation = props.networkIsolation ?? true;
    this.inVpc = props.vpc !== undefined;
    this.role = props.role ?? createModelRole(this);
    checkRoleAccount(this, this.role);
    allowMetrics(this.role);
    this.grantPrincipal = this.role;
    this.data = props.modelData.bind(this);
    if (this.data.multiModel && isInProcess(props.image.variant)) {
      invalidProp(
        this,
        'modelData',
        `multi-model data needs an image that declares SageMaker's multi-models capability, and the '${props.image.variant}' image does not`,
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
      this.data,
    );
    this.environment = environment;
    checkCollector(this, this.networkIsolation, environment);
    if (joinsRequests(environment)) warnOfBatching(this, this.data);
    const permissions: IDependable[] = [props.image.grantPull(this.role), ...this.grantReadData()];
    checkImage(this, props.image.imageUri);
    const vpc = attachToVpc(this, props);
    if (vpc) permissions.push(allowVpc(this, this.role, vpc.config));
    this.vpcConnections = vpc?.connections;
    this.resource = new CfnModel(this, 'Resource', {
      ...(props.modelName !== undefined && { modelName: this.physicalName }),
      executionRoleArn: this.role.roleArn,
      enableNetworkIsolation: this.networkIsolation,
      primaryContainer: {
        // A model package has its own.
        ...(!this.data.container.modelPackageName && { image: props.image.imageUri }),
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

  /** Security groups of the instances. @throws if the model is not in a VPC */
  get connections(): Connections {
    if (this.vpcConnections) return this.vpcConnections;
    return invalidProp(this, 'vpc', 'the model has no connections', 'Give it a vpc');
  }

  /**
   * The permission is a policy of its own for every revision: during an update the old model's instances
   * can still be started, and after a rollback they must be.
   */
  private grantReadData(): readonly Policy[] {
    if (!this.data.grantRead) return [];
    const policy = new Policy(this, `ReadModelData${this.data.revision.slice(0, 8)}`);
    this.role.attachInlinePolicy(policy);
    this.data.grantRead(policy);
    return [policy];
  }
}

/**
 * SageMaker takes an execution role of its own account alone.
 * @see https://repost.aws/knowledge-center/iam-passrole-error
 */
function checkRoleAccount(scope: TensorFlowModel, role: IRole): void {
  const theirs = role.principalAccount;
  const own = Stack.of(scope).account;
  if (theirs === undefined || Token.isUnresolved(theirs) || theirs === own) return;
  const problem = `the role is of account ${theirs}`;
  const fix = 'Give a role of the account that the model is in: SageMaker takes no other';
  if (!Token.isUnresolved(own)) invalidProp(scope, 'role', `${problem}, the stack of ${own}`, fix);
  Annotations.of(scope).addWarningV2(
    '@sagemaker-tfs/cdk:accountOfRole',
    `role: ${problem}, and synthesis does not know the stack's. ${fix}`,
  );
}

function checkName(scope: Construct, name: string | undefined): void {
  if (name === undefined || Token.isUnresolved(name)) return;
  if (!SAGEMAKER_NAME.test(name)) {
    const fix = 'Use letters, digits and hyphens between them, at most 63 characters';
    invalidProp(scope, 'modelName', `'${name}' is not a name of a model`, fix);
  }
  Annotations.of(scope).addWarningV2(
    '@sagemaker-tfs/cdk:fixedModelName',
    `modelName: '${name}' is fixed, and a model can only be replaced: an update that changes it fails unless the name changes too`,
  );
}

/** Refuses an image that this model's region cannot pull, if both are known. */
function checkImage(scope: Construct, uri: string): void {
  if (Token.isUnresolved(uri)) return;
  const { region, account } = Stack.of(scope);
  const known = Token.isUnresolved(region) ? undefined : region;
  refuseProblem(scope, 'image', imageProblem(uri, known));
  const theirs = parseEcrImage(uri)?.account;
  if (theirs === undefined || Token.isUnresolved(account) || theirs === account) return;
  Annotations.of(scope).addInfo(
    `image: it is of account ${theirs}. The policy of its repository must let account ${account} pull it: docs/private-networks.md`,
  );
}

/** Nothing leaves a container that is cut off from every network. */
function checkCollector(
  scope: Construct,
  networkIsolation: boolean,
  { SAGEMAKER_TFS_OTLP_ENDPOINT: endpoint }: Readonly<Record<string, string>>,
): void {
  if (endpoint === undefined || !networkIsolation) return;
  const problem = `no span reaches ${endpoint} from a container with network isolation`;
  const fix = `Give networkIsolation: false, or SAGEMAKER_TFS_TRACES: 'log' in its place`;
  invalidProp(scope, 'environment.SAGEMAKER_TFS_OTLP_ENDPOINT', problem, fix);
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
