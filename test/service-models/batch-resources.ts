/** Resources of AWS Batch as the requests that CloudFormation makes of them. */
import { problemsOf } from './validate.ts';

type Properties = Readonly<Record<string, unknown>>;

/** Maps whose names are the user's. */
const MAPS = ['Parameters', 'Options', 'Tags'];

/** What CloudFormation sends: members begin with a small letter. */
export function asRequest(value: unknown, isMap = false): unknown {
  if (Array.isArray(value)) return value.map((item) => asRequest(item));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  if (entries.length === 1 && /^(Ref|Fn::)/.test(entries[0]?.[0] ?? '')) return value;
  return Object.fromEntries(
    entries.map(([key, item]) => [
      isMap ? key : key.charAt(0).toLowerCase() + key.slice(1),
      asRequest(item, MAPS.includes(key)),
    ]),
  );
}

/** Without CloudFormation's own, in the API's spelling, and without what only an update takes. */
function environmentRequest(properties: Properties): Properties {
  const {
    ReplaceComputeEnvironment: _,
    UpdatePolicy,
    ComputeResources,
    Type,
    ...rest
  } = properties;
  const { UpdateToLatestImageVersion, ...resources } = ComputeResources as Properties;
  return { ...rest, Type: `${Type}`.toUpperCase(), ComputeResources: resources };
}

/** What AWS Batch would refuse of a resource; undefined for a resource of another service. */
export function batchProblems(type: string, properties: Properties): string[] | undefined {
  switch (type) {
    case 'AWS::Batch::JobDefinition':
      return problemsOf('batch', 'RegisterJobDefinition', asRequest(properties), [
        'jobDefinitionName',
      ]);
    case 'AWS::Batch::JobQueue':
      return problemsOf('batch', 'CreateJobQueue', asRequest(properties), ['jobQueueName']);
    case 'AWS::Batch::ComputeEnvironment':
      return problemsOf(
        'batch',
        'CreateComputeEnvironment',
        asRequest(environmentRequest(properties)),
        ['computeEnvironmentName'],
      );
    default:
      return undefined;
  }
}
