/** The role that SageMaker assumes to run a model, with what the model needs and nothing else. */
import { JOB_LOG_GROUP, PROCESSING_LOG_GROUP } from '@sagemaker-tfs/batch';
import { type IRole, Policy, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Aws, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { shortDigest } from './hashing/short-digest.ts';
import { checkInlinePolicies } from './inline-policies.ts';
import type { VpcAttachment } from './vpc-attachment.ts';
import { justifyWildcard } from './wildcards.ts';

/** CloudWatch namespaces that SageMaker's agent and the runtime publish to. */
const METRIC_NAMESPACES = [
  'AWS/SageMaker',
  '/aws/sagemaker/Endpoints',
  '/aws/sagemaker/TransformJobs',
];

/** Actions with which SageMaker attaches instances to subnets; EC2 knows no resource for the reads. */
const VPC_READS = [
  'ec2:DescribeDhcpOptions',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSecurityGroups',
  'ec2:DescribeSubnets',
  'ec2:DescribeVpcs',
];
const VPC_WRITES = [
  'ec2:CreateNetworkInterface',
  'ec2:CreateNetworkInterfacePermission',
  'ec2:DeleteNetworkInterface',
  'ec2:DeleteNetworkInterfacePermission',
];

/**
 * A role that SageMaker in this account may assume. Model data, image and log groups are granted by
 * those who know their names.
 */
export function createModelRole(scope: Construct): Role {
  return new Role(scope, 'Role', {
    description: 'Runs a TensorFlow model on SageMaker',
    assumedBy: new ServicePrincipal('sagemaker.amazonaws.com', {
      conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
    }),
  });
}

/** Lets the role's containers publish metrics. */
export function allowMetrics(role: IRole): void {
  checkInlinePolicies(Stack.of(role));
  role.addToPrincipalPolicy(
    new PolicyStatement({
      sid: 'PublishMetrics',
      actions: ['cloudwatch:PutMetricData'],
      resources: ['*'],
      conditions: { StringEquals: { 'cloudwatch:namespace': METRIC_NAMESPACES } },
    }),
  );
  justifyWildcard(
    role,
    '*',
    'cloudwatch:PutMetricData and ecr:GetAuthorizationToken have no resource to restrict them to; metrics are restricted by their namespace',
  );
}

/** Lets the role's containers write to a log group that SageMaker creates, or to those that a pattern with `*` at its end names. */
export function allowLogging(role: IRole, logGroup: string): void {
  const arn = `arn:${Aws.PARTITION}:logs:${Aws.REGION}:${Aws.ACCOUNT_ID}:log-group:${logGroup}`;
  const streams = `${arn}:log-stream:*`;
  role.addToPrincipalPolicy(
    new PolicyStatement({
      actions: [
        'logs:CreateLogGroup',
        'logs:CreateLogStream',
        'logs:DescribeLogStreams',
        'logs:PutLogEvents',
      ],
      resources: logGroup.endsWith('*') ? [arn] : [arn, streams],
    }),
  );
  if (logGroup.endsWith('*')) justifyWildcard(role, arn, 'The log groups of one endpoint');
  else justifyWildcard(role, streams, 'SageMaker names the streams of this one log group');
}

/**
 * Lets the model's role run its image as a worker in a Processing job: without its log nobody knows why one failed.
 * @see https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-roles.html#sagemaker-roles-createprocessingjob-perms
 */
export function allowProcessing(role: IRole): void {
  allowLogging(role, PROCESSING_LOG_GROUP);
  role.addToPrincipalPolicy(
    new PolicyStatement({
      actions: ['cloudwatch:PutMetricData'],
      resources: ['*'],
      conditions: { StringEquals: { 'cloudwatch:namespace': PROCESSING_LOG_GROUP } },
    }),
  );
}

/** Lets a role read what transform jobs log: of single inputs nothing else tells why they have no output. */
export function allowReadingLogs(role: IRole): void {
  const arn = `arn:${Aws.PARTITION}:logs:${Aws.REGION}:${Aws.ACCOUNT_ID}:log-group:${JOB_LOG_GROUP}:*`;
  role.addToPrincipalPolicy(
    new PolicyStatement({ actions: ['logs:FilterLogEvents'], resources: [arn] }),
  );
  justifyWildcard(role, arn, 'The streams of the one log group of transform jobs');
}

/** Policies of roles for networks, by stack and network. */
const NETWORKS = new WeakMap<IRole, Map<string, Policy>>();

/**
 * Lets SageMaker attach instances to these subnets with these security groups. Both may be another account's, which
 * shares its VPC; the interfaces are of this account. The policy is another one for other subnets or groups: while an
 * update runs, and after a rollback, the instances of the old network are still started. Models of a stack that share a
 * role and a network share the policy: a role has little room for inline ones.
 * @see https://docs.aws.amazon.com/vpc/latest/userguide/vpc-share-limitations.html
 */
export function allowVpc(
  scope: Construct,
  role: IRole,
  { subnets, securityGroupIds }: VpcAttachment['config'],
): Policy {
  const network = JSON.stringify(Stack.of(scope).resolve([subnets, securityGroupIds]));
  const hash = shortDigest(network);
  const key = `${Stack.of(scope).node.addr} ${hash}`;
  const known = NETWORKS.get(role) ?? new Map<string, Policy>();
  NETWORKS.set(role, known);
  const shared = known.get(key);
  if (shared) return shared;
  const policy = new Policy(scope, `JoinNetwork${hash}`);
  known.set(key, policy);
  role.attachInlinePolicy(policy);
  const ec2 = (account: string) => `arn:${Aws.PARTITION}:ec2:${Aws.REGION}:${account}`;
  const interfaces = `${ec2(Aws.ACCOUNT_ID)}:network-interface/*`;
  const ends = [
    ...subnets.map((id) => `${ec2('*')}:subnet/${id}`),
    ...securityGroupIds.map((id) => `${ec2('*')}:security-group/${id}`),
  ];
  policy.addStatements(
    new PolicyStatement({
      sid: 'DescribeNetwork',
      actions: VPC_READS,
      resources: ['*'],
    }),
    new PolicyStatement({
      actions: VPC_WRITES,
      resources: [interfaces, ...ends],
    }),
  );
  justifyWildcard(policy, '*', 'The ec2:Describe actions have no resource to restrict them to');
  justifyWildcard(
    policy,
    interfaces,
    'The interfaces do not exist yet; their subnets and security groups are named',
  );
  for (const arn of ends) {
    justifyWildcard(
      policy,
      arn,
      'Named by its id, which is of one account; a shared VPC is of another',
    );
  }
  return policy;
}
