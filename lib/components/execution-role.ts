/** The role of an endpoint that components share: what the roles of their models may do, in one. */
import {
  type IRole,
  Policy,
  PolicyDocument,
  PolicyStatement,
  type Role,
} from 'aws-cdk-lib/aws-iam';
import { Annotations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { shortDigest } from '../hashing/short-digest.ts';
import { allowLogging, allowMetrics, allowVpc, createModelRole } from '../model-role.ts';
import { TensorFlowModel } from '../tensorflow-model.ts';
import type { VpcAttachment } from '../vpc-attachment.ts';
import { COPIES_NAMESPACE } from './metrics.ts';
import type { BoundComponent } from './props.ts';

/** Name of the group that SageMaker writes a component's output to. */
export function componentLogGroup(componentName: string): string {
  return `/aws/sagemaker/InferenceComponents/${componentName}`;
}

/**
 * A role for the endpoint's configuration. The components' own models keep their roles, which may write the same logs
 * and metrics: AWS does not say which of the two a container has.
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateEndpointConfig.html (ExecutionRoleArn)
 */
export function createExecutionRole(
  scope: Construct,
  endpointName: string,
  components: readonly BoundComponent[],
  vpc: VpcAttachment | undefined,
): Role {
  const role = createModelRole(scope);
  allowMetrics(role);
  if (vpc) allowVpc(role, role, vpc.config);
  const models = [...new Set(components.map(({ props }) => props.model))];
  grantModels(
    role,
    models.filter((model) => model instanceof TensorFlowModel),
  );
  const unknown = models.filter((model) => !(model instanceof TensorFlowModel));
  const logGroups = componentLogGroup(`${endpointName}-*`);
  for (const one of new Set([role, ...components.flatMap(({ props }) => props.model.role ?? [])])) {
    allowComponentMetrics(one);
    allowLogging(one, logGroups);
  }
  if (unknown.length > 0) {
    Annotations.of(scope).addWarningV2(
      '@sagemaker-tfs/cdk:dataOfExistingModels',
      `components: data and image of ${unknown.map(({ modelName }) => modelName).join(', ')} are not known here. Let 'executionRole' read them`,
    );
  }
  return role;
}

/** A policy of its own for every revision: during an update copies of the old models can still be started. */
function grantModels(role: Role, models: readonly TensorFlowModel[]): void {
  for (const { image } of models) image.grantPull(role);
  // Models within their images have nothing in S3, and a policy needs a statement.
  const archives = models.map(({ data }) => data).filter((data) => data.grantRead !== undefined);
  if (archives.length === 0) return;
  const revisions = archives.map((data) => data.revision).join();
  const revision = shortDigest(revisions);
  // Minimized: one statement for the archives of all.
  const document = new PolicyDocument({ minimize: true });
  const policy = new Policy(role, `ReadModelData${revision}`, { document });
  role.attachInlinePolicy(policy);
  for (const data of archives) data.grantRead?.(policy);
}

/** Beside the namespaces that every model's role has. */
function allowComponentMetrics(role: IRole): void {
  role.addToPrincipalPolicy(
    new PolicyStatement({
      sid: 'PublishMetricsOfCopies',
      actions: ['cloudwatch:PutMetricData'],
      resources: ['*'],
      conditions: { StringEquals: { 'cloudwatch:namespace': COPIES_NAMESPACE } },
    }),
  );
}
