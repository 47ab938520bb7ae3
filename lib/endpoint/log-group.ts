/**
 * Expiry and key of the log group that SageMaker writes an endpoint's output to. It is not a `LogGroup` of the stack:
 * SageMaker makes the group when there is none, so that of an endpoint from before is there already, and CloudFormation
 * would fail to make it.
 * @see https://docs.aws.amazon.com/sagemaker/latest/dg/logging-cloudwatch.html
 */
import {
  type IPrincipal,
  type IRole,
  Policy,
  PolicyStatement,
  Role,
  ServicePrincipal,
} from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { type LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { ArnFormat, Stack } from 'aws-cdk-lib/core';
import { AwsCustomResource, PhysicalResourceId } from 'aws-cdk-lib/custom-resources';
import { Construct } from 'constructs';
import { createLogGroup, encryptionKeyOf, encryptLogs, logsService } from '../encryption.ts';
import { shortDigest } from '../hashing/short-digest.ts';
import { checkInlinePolicies } from '../inline-policies.ts';
import { justifyWildcard } from '../wildcards.ts';

/** How long logs are kept where nothing is said. */
export const DEFAULT_LOG_RETENTION = RetentionDays.THREE_MONTHS;

/**
 * Days that CloudWatch Logs takes.
 * @see https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html
 */
export const RETENTION_DAYS = Object.values(RetentionDays).filter(
  (value): value is RetentionDays => typeof value === 'number' && value !== RetentionDays.INFINITE,
);

/** Name of the group that SageMaker writes to. */
export function endpointLogGroup(endpointName: string): string {
  return `/aws/sagemaker/Endpoints/${endpointName}`;
}

/** Role and log of the CDK's one function for such calls in a stack. */
interface Caller {
  readonly role: Role;
  readonly logGroup: LogGroup;
}

const CALLERS = new WeakMap<Stack, Caller>();
/** Callers whose log has a key. */
const ENCRYPTED = new WeakSet<Caller>();

/** @param key of an endpoint. Without a key of the stack, the first such key is the key of the function's log */
function callerOf(stack: Stack, key: IKey | undefined): Caller {
  const caller = CALLERS.get(stack) ?? createCaller(stack);
  CALLERS.set(stack, caller);
  if (key && !encryptionKeyOf(stack) && !ENCRYPTED.has(caller)) {
    ENCRYPTED.add(caller);
    encryptLogs(caller.logGroup, key);
  }
  return caller;
}

function createCaller(stack: Stack): Caller {
  const scope = new Construct(stack, 'LogGroupUpkeep');
  const role = new Role(scope, 'Role', {
    description: "Sets expiry and key of SageMaker's log groups",
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
  });
  const logGroup = createLogGroup(scope, 'Log');
  logGroup.grantWrite(role);
  return { role, logGroup };
}

/** One call when the resource is made and changed, and one when it goes. */
interface LogCall {
  readonly action: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly ignoreErrorCodesMatching?: string;
  readonly undo?: string;
}

/** Calls that set expiry and key, in their order; each may be made again. */
function callsFor(retention: RetentionDays, key: IKey | undefined): Record<string, LogCall> {
  return {
    LogGroup: {
      action: 'createLogGroup',
      ignoreErrorCodesMatching: 'ResourceAlreadyExistsException',
    },
    LogRetention:
      retention === RetentionDays.INFINITE
        ? { action: 'deleteRetentionPolicy' }
        : { action: 'putRetentionPolicy', parameters: { retentionInDays: retention } },
    ...(key && {
      LogKey: {
        action: 'associateKmsKey',
        parameters: { kmsKeyId: key.keyArn },
        undo: RELEASE_KEY,
      },
    }),
  };
}

/** Frees a group from its key: what is written from then on is under AWS's own. */
const RELEASE_KEY = 'disassociateKmsKey';
/** A group that is gone, or that the role may not change since a version of the stack that had no policy for it. */
const NOT_OURS = 'ResourceNotFoundException|AccessDeniedException';

/**
 * What the calls for a group need. The key too: AWS's guide asks for that, of every caller.
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html
 */
function statementsFor(
  stack: Stack,
  resources: string[],
  calls: readonly LogCall[],
  key: IKey | undefined,
): PolicyStatement[] {
  // To release the key always: by the time its resource goes, the policy is that of the stack without it.
  const names = new Set([...calls.map(({ action }) => action), RELEASE_KEY]);
  const actions = [...names].map((name) => `logs:${name.charAt(0).toUpperCase()}${name.slice(1)}`);
  // In one: a role has little room for its policies.
  const statements = [new PolicyStatement({ actions, resources })];
  if (!key) return statements;
  const keyStatement = new PolicyStatement({
    actions: ['kms:Encrypt', 'kms:Decrypt', 'kms:GenerateDataKey', 'kms:DescribeKey'],
    resources: [key.keyArn],
    conditions: { StringEquals: { 'kms:ViaService': logsService(stack) } },
  });
  return [...statements, keyStatement];
}

function isRole(principal: IPrincipal): principal is IRole {
  return 'attachInlinePolicy' in principal;
}

/**
 * Lets the function make the calls. Its role is that of the first `AwsCustomResource` in the stack, whoever wrote it; that
 * of all later ones, `role` too, is ignored. Another's role gets a policy of its own.
 * @see https://docs.aws.amazon.com/cdk/api/v2/docs/aws-cdk-lib.custom_resources.AwsCustomResourceProps.html (role)
 * @returns the role, and what has the permissions
 */
function allowCalls(
  scope: Construct,
  own: Role,
  { grantPrincipal }: AwsCustomResource,
  statements: PolicyStatement[],
): { readonly role: IRole; readonly permissions: Construct } {
  if (grantPrincipal === own || !isRole(grantPrincipal)) {
    for (const statement of statements) own.addToPolicy(statement);
    return { role: own, permissions: own };
  }
  const permissions = new Policy(scope, 'Calls', { roles: [grantPrincipal], statements });
  return { role: grantPrincipal, permissions };
}

/**
 * Lets a role free these groups from their key for as long as the stack has anything of them: a policy with a name of
 * their own. Once the endpoint has another name, the role's other policies name the new groups only. CloudFormation
 * deletes this one after the resources that free the old groups, which depend on it.
 */
function allowRelease(scope: Construct, role: IRole, name: string, resources: string[]): Policy {
  const id = shortDigest(JSON.stringify(Stack.of(scope).resolve(name)));
  const statement = new PolicyStatement({ actions: ['logs:DisassociateKmsKey'], resources });
  const policy = new Policy(scope, `Release${id}`, { roles: [role], statements: [statement] });
  justifyGroups(policy, resources);
  return policy;
}

/** A group and its streams; a pattern with a `*` at its end matches both. */
function resourcesOf(stack: Stack, name: string): string[] {
  const arn = stack.formatArn({
    service: 'logs',
    resource: 'log-group',
    resourceName: name,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  return name.endsWith('*') ? [arn] : [arn, `${arn}:*`];
}

function justifyGroups(scope: Construct, resources: readonly string[]): void {
  const reason = 'The log groups of one endpoint, and their streams';
  for (const resource of resources) {
    if (resource.endsWith('*')) justifyWildcard(scope, resource, reason);
  }
}

/** A log group, and the construct that its resources are made in. */
export interface KeptGroup {
  readonly scope: Construct;
  readonly logGroupName: string;
}

/**
 * Makes the group unless it is there, sets its expiry, and its key where the construct around has one. When the stack
 * is deleted the group stays, without the key, and empties itself.
 * @returns what must come before the endpoint
 */
export function keepLogs(
  parent: Construct,
  logGroupName: string,
  retention: RetentionDays,
): Construct {
  const scope = new Construct(parent, 'Logs');
  keepGroups(scope, [{ scope, logGroupName }], logGroupName, retention);
  return scope;
}

/**
 * As `keepLogs`, for all groups of an endpoint with the same few permissions.
 * @param name of the only group, or a pattern of all
 */
export function keepGroups(
  scope: Construct,
  groups: readonly KeptGroup[],
  name: string,
  retention: RetentionDays,
): void {
  const stack = Stack.of(scope);
  const key = encryptionKeyOf(scope);
  const caller = callerOf(stack, key);
  const calls = Object.entries(callsFor(retention, key));
  const made = groups.map((group) =>
    calls.map(([id, call]) => createCall(group.scope, id, call, group.logGroupName, caller)),
  );
  const first = made[0]?.[0];
  if (!first) return;
  const resources = resourcesOf(stack, name);
  const actions = calls.map(([, call]) => call);
  const statements = statementsFor(stack, resources, actions, key);
  const { role, permissions } = allowCalls(scope, caller.role, first, statements);
  justifyGroups(permissions, resources);
  const release = key && allowRelease(scope, role, name, resources);
  checkInlinePolicies(stack);
  for (const chain of made) {
    chain.forEach((resource, i) => {
      resource.node.addDependency(chain[i - 1] ?? permissions);
    });
    if (release) chain.at(-1)?.node.addDependency(release);
  }
}

function createCall(
  scope: Construct,
  id: string,
  { action, parameters, undo, ...rest }: LogCall,
  logGroupName: string,
  caller: Caller,
): AwsCustomResource {
  const service = 'CloudWatchLogs';
  return new AwsCustomResource(scope, id, {
    resourceType: `Custom::SageMaker${id}`,
    onUpdate: {
      service,
      action,
      parameters: { logGroupName, ...parameters },
      physicalResourceId: PhysicalResourceId.of(logGroupName),
      ...rest,
    },
    ...(undo && {
      onDelete: {
        service,
        action: undo,
        parameters: { logGroupName },
        ignoreErrorCodesMatching: NOT_OURS,
      },
    }),
    ...caller,
    installLatestAwsSdk: false,
  });
}
