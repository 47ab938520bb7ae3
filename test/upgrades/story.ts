/**
 * What CloudFormation does when one template follows another, told so that a person can read it: by the update
 * behavior of each resource type (`test/service-models/updates.json`), in the order of the references.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Resource, Resources } from './resources.ts';
import { refusals } from './sagemaker-updates.ts';

/** What happens to one resource. */
export interface Step {
  readonly id: string;
  readonly type: string;
  readonly does: 'makes' | 'updates' | 'replaces' | 'deletes' | 'keeps';
  /** Properties that differ; of a replacement, those that cause it. */
  readonly because: readonly string[];
  /** Whether CloudFormation makes the new one under the name of the old one, and fails. */
  readonly nameTaken: boolean;
}

/** An update: what happens in its order, then what is cleaned up, and what AWS refuses of it. */
export interface Story {
  readonly steps: readonly Step[];
  readonly cleanup: readonly Step[];
  readonly refused: readonly string[];
}

const { types } = JSON.parse(
  readFileSync(join(__dirname, '..', 'service-models', 'updates.json'), 'utf8'),
) as { types: Readonly<Record<string, readonly string[]>> };

/** Properties by which a resource is named, where a template names it; others of the name cannot be made. */
const NAMES: Readonly<Record<string, string>> = {
  'AWS::ApiGateway::ApiKey': 'Name',
  'AWS::ApiGateway::DomainName': 'DomainName',
  'AWS::ApplicationAutoScaling::ScalingPolicy': 'PolicyName',
  'AWS::Batch::ComputeEnvironment': 'ComputeEnvironmentName',
  'AWS::Batch::JobDefinition': 'JobDefinitionName',
  'AWS::Batch::JobQueue': 'JobQueueName',
  'AWS::CloudWatch::Alarm': 'AlarmName',
  'AWS::CloudWatch::Dashboard': 'DashboardName',
  'AWS::EC2::SecurityGroup': 'GroupName',
  'AWS::Events::Rule': 'Name',
  'AWS::IAM::Role': 'RoleName',
  'AWS::Lambda::Function': 'FunctionName',
  'AWS::Logs::LogGroup': 'LogGroupName',
  'AWS::S3::Bucket': 'BucketName',
  'AWS::SNS::Topic': 'TopicName',
  'AWS::SQS::Queue': 'QueueName',
  'AWS::SSM::Parameter': 'Name',
  'AWS::SageMaker::Endpoint': 'EndpointName',
  'AWS::SageMaker::EndpointConfig': 'EndpointConfigName',
  'AWS::SageMaker::Model': 'ModelName',
  'AWS::StepFunctions::StateMachine': 'StateMachineName',
};

/** Properties whose change replaces. @throws for a type that extract_cloudformation.py does not write down */
function replacing(type: string): readonly string[] {
  // A custom resource is replaced where its function answers with another id; ours keep theirs.
  if (/^Custom::|^AWS::CloudFormation::CustomResource$/.test(type)) return [];
  const properties = types[type];
  if (properties) return properties;
  throw new Error(`no update behavior of ${type}; add it to extract_cloudformation.py`);
}

/** Ids of the resources that a value refers to. */
function references(value: unknown, known: Resources): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item) => references(item, known));
  return Object.entries(value).flatMap(([key, item]) => {
    if (key === 'Ref' && typeof item === 'string') return item in known ? [item] : [];
    if (key === 'Fn::GetAtt' && Array.isArray(item))
      return item[0] in known ? [String(item[0])] : [];
    if (key === 'Fn::Sub') {
      const text = String(Array.isArray(item) ? item[0] : item);
      return [...text.matchAll(/\$\{([A-Za-z0-9]+)/g)].flatMap(([, id = '']) =>
        id in known ? [id] : [],
      );
    }
    return references(item, known);
  });
}

/** Ids of the launch templates whose newest version a value names: an update makes another. */
function versionsIn(value: unknown): string[] {
  const text = JSON.stringify(value) ?? '';
  return [...text.matchAll(/\["(\w+)","LatestVersionNumber"\]/g)].map(([, id = '']) => id);
}

function dependencies({ Properties, DependsOn = [] }: Resource, known: Resources): string[] {
  return [...references(Properties, known), ...[DependsOn].flat()];
}

/** Ids, each behind those that it needs. */
function inOrder(resources: Resources): string[] {
  const done = new Set<string>();
  const visit = (id: string) => {
    const resource = resources[id];
    if (!resource || done.has(id)) return;
    done.add(id);
    for (const needed of dependencies(resource, resources).sort()) visit(needed);
    order.push(id);
  };
  const order: string[] = [];
  for (const id of Object.keys(resources).sort()) visit(id);
  return order;
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** Tells an update. */
export function tell(before: Resources, after: Resources): Story {
  const replaced = new Set<string>();
  const updated = new Set<string>();
  const steps = inOrder(after).flatMap((id): Step[] => {
    const step = stepOf(
      id,
      before[id],
      after[id],
      (value) =>
        references(value, after).some((other) => replaced.has(other)) ||
        versionsIn(value).some((other) => updated.has(other)),
    );
    if (step?.does === 'replaces') replaced.add(id);
    if (step?.does === 'updates') updated.add(id);
    return step ? [step] : [];
  });
  return {
    steps,
    cleanup: cleanupOf(before, after, replaced),
    refused: [...refusals(before, after), ...steps.flatMap(configurationInUse)],
  };
}

/** @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_UpdateEndpoint.html */
function configurationInUse({ id, type, does, because }: Step): string[] {
  const isUpdate = type === 'AWS::SageMaker::Endpoint' && does === 'updates';
  const calls = isUpdate && because.some((name) => name !== 'Tags');
  if (!calls || because.includes('EndpointConfigName')) return [];
  return [`${id} is updated to the configuration in use`];
}

function stepOf(
  id: string,
  old: Resource | undefined,
  now: Resource | undefined,
  refersToReplaced: (value: unknown) => boolean,
): Step | undefined {
  if (!now) return undefined;
  const type = now.Type;
  const step = { id, type, because: [], nameTaken: false };
  if (!old) return { ...step, does: 'makes' };
  const names = [...Object.keys(old.Properties ?? {}), ...Object.keys(now.Properties ?? {})];
  const because = [...new Set(names)].filter((name) => {
    const value = now.Properties?.[name];
    return !same(old.Properties?.[name], value) || refersToReplaced(value);
  });
  if (because.length === 0) return undefined;
  const causes = because.filter((name) => replacing(type).includes(name));
  if (causes.length === 0) return { ...step, because, does: 'updates' };
  const name = NAMES[type] ?? '';
  const given = now.Properties?.[name];
  const nameTaken = given !== undefined && !causes.includes(name);
  return { ...step, because: causes, does: 'replaces', nameTaken };
}

/** What goes when everything else has succeeded: the last made first. */
function cleanupOf(before: Resources, after: Resources, replaced: ReadonlySet<string>): Step[] {
  return inOrder(before)
    .reverse()
    .flatMap((id): Step[] => {
      const old = before[id];
      if (!old || (id in after && !replaced.has(id))) return [];
      const policy = id in after ? old.UpdateReplacePolicy : old.DeletionPolicy;
      const does = /^Retain/.test(policy ?? '') ? 'keeps' : 'deletes';
      return [{ id, type: old.Type, does, because: [], nameTaken: false }];
    });
}

/**
 * Rights of the roles that models have, which the update takes away before it is complete: the old instances are still
 * started until then, and after a rollback they must be.
 */
export function rightsLostEarly(before: Resources, after: Resources): string[] {
  const roles = Object.values(before).flatMap(({ Type, Properties }) =>
    Type === 'AWS::SageMaker::Model' ? references(Properties?.ExecutionRoleArn, before) : [],
  );
  // What is deleted or replaced is deleted last.
  const meanwhile = [...rightsOf(after, roles), ...rightsOf(onlyIn(before, after), roles)];
  const there = new Set(meanwhile);
  return [...new Set(rightsOf(before, roles))].filter((right) => !there.has(right));
}

const onlyIn = (some: Resources, others: Resources): Resources =>
  Object.fromEntries(Object.entries(some).filter(([id]) => !(id in others)));

/** Each action with its resource, and under which conditions. */
function rightsOf(resources: Resources, roles: readonly string[]): string[] {
  return Object.values(resources).flatMap(({ Type, Properties = {} }) => {
    const isTheirs = references(Properties.Roles, rolesAsKnown(roles)).length > 0;
    if (Type !== 'AWS::IAM::Policy' || !isTheirs) return [];
    const { Statement } = Properties.PolicyDocument as {
      Statement: Readonly<Record<'Action' | 'Resource' | 'Condition', unknown>>[];
    };
    return Statement.flatMap(({ Action, Resource, Condition }) =>
      [Action]
        .flat()
        .flatMap((action) =>
          [Resource]
            .flat()
            .map((resource) => `${action} ${JSON.stringify([resource, Condition ?? {}])}`),
        ),
    );
  });
}

const rolesAsKnown = (roles: readonly string[]): Resources =>
  Object.fromEntries(roles.map((id) => [id, { Type: 'AWS::IAM::Role' }]));

/** A logical id without the hashes that differ between machines or with the model. */
const readable = (id: string) =>
  id
    .replace(/(ReadModelData|JoinNetwork|Upload[0-9A-F]{8})[0-9a-f]{8}/, '$1')
    .replace(/(ApiDeployment)[0-9A-F]{8}[0-9a-f]{32}$/, '$1')
    .replace(/[0-9A-F]{8}([0-9a-f]{8})?$/, '');

const lineOf = ({ id, type, does, because, nameTaken }: Step) =>
  [
    `${does} ${readable(id)} (${type.replace(/^AWS::/, '')})`,
    because.length > 0 ? `: ${because.join(', ')}` : '',
    nameTaken ? ' !! under the name of the old one' : '',
  ].join('');

/** A story as lines. */
export function lines({ steps, cleanup, refused }: Story): string {
  return [
    ...(steps.length === 0 && cleanup.length === 0 ? ['nothing happens'] : []),
    ...steps.map(lineOf),
    ...(cleanup.length > 0 ? ['then, when all is well:'] : []),
    ...cleanup.map((step) => `  ${lineOf(step)}`),
    ...refused.map((text) => `REFUSED: ${text}`),
  ].join('\n');
}
