/** Deletes whatever a run has made, by its names: also what a killed run left. */
import { DeleteRepositoryCommand } from '@aws-sdk/client-ecr';
import { DeleteRoleCommand, DeleteRolePolicyCommand } from '@aws-sdk/client-iam';
import { DeleteBucketCommand, DeleteObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import {
  DeleteEndpointCommand,
  DeleteEndpointConfigCommand,
  DeleteModelCommand,
  ListEndpointConfigsCommand,
  ListEndpointsCommand,
  ListModelsCommand,
  ListTransformJobsCommand,
  StopTransformJobCommand,
} from '@aws-sdk/client-sagemaker';
import { DeleteStateMachineCommand, ListStateMachinesCommand } from '@aws-sdk/client-sfn';
import { type Aws, cli, PREFIX } from './aws.ts';
import { bucketOf } from './setup.ts';

/** Errors that say that there is nothing to delete. */
const GONE = /NotFound|NoSuch|not exist|Could not find|does not exist/i;

/** @returns what could not be deleted, with the reason */
export async function cleanUp(aws: Aws, account: string): Promise<string[]> {
  const left: string[] = [];
  const remove = async (what: string, work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      const { name, message } = error as Error;
      if (!GONE.test(`${name} ${message}`)) left.push(`${what}: ${message}`);
    }
  };
  /** Removes each of what a list names; without an answer, it is not known whether something is left. */
  const removeEach = async (
    kind: string,
    list: (aws: Aws) => Promise<string[]>,
    work: (name: string) => Promise<unknown>,
  ) => {
    let names: string[] = [];
    await remove(`perhaps ${kind}s`, async () => {
      names = await list(aws);
    });
    for (const name of names) await remove(`${kind} ${name}`, () => work(name));
  };
  const { sagemaker, iam, ecr } = aws;
  // What costs by the hour first.
  await removeEach('endpoint', endpoints, (EndpointName) =>
    sagemaker.send(new DeleteEndpointCommand({ EndpointName })),
  );
  await removeEach('transform job', runningJobs, (TransformJobName) =>
    sagemaker.send(new StopTransformJobCommand({ TransformJobName })),
  );
  await removeEach('endpoint configuration', endpointConfigs, (EndpointConfigName) =>
    sagemaker.send(new DeleteEndpointConfigCommand({ EndpointConfigName })),
  );
  await removeEach('model', models, (ModelName) =>
    sagemaker.send(new DeleteModelCommand({ ModelName })),
  );
  await remove(`bucket of ${account}`, () => removeBucket(aws, bucketOf(account, aws.region)));
  await remove(`repository ${PREFIX}`, () =>
    ecr.send(new DeleteRepositoryCommand({ repositoryName: PREFIX, force: true })),
  );
  await removeEach('state machine', stateMachines, (stateMachineArn) =>
    aws.stepFunctions.send(new DeleteStateMachineCommand({ stateMachineArn })),
  );
  // A container that ends later than this may make its group again; --clean finds it.
  await removeEach('log group', logGroups, (name) =>
    logs(aws, 'delete-log-group', '--log-group-name', name),
  );
  await removeEach('log stream', logStreams, (name) =>
    logs(aws, 'delete-log-stream', ...OF_JOBS, '--log-stream-name', name),
  );
  const policy = { RoleName: PREFIX, PolicyName: PREFIX };
  await remove(`policy ${PREFIX}`, () => iam.send(new DeleteRolePolicyCommand(policy)));
  await remove(`role ${PREFIX}`, () => iam.send(new DeleteRoleCommand({ RoleName: PREFIX })));
  return left;
}

/** What SageMaker still has under the names of a run; a run makes a dozen at most. */
const MINE = { NameContains: PREFIX, MaxResults: 100 };
const own = (names: readonly (string | undefined)[]) =>
  names.filter((name): name is string => name?.startsWith(`${PREFIX}-`) ?? false);

async function endpoints({ sagemaker }: Aws): Promise<string[]> {
  const { Endpoints = [] } = await sagemaker.send(new ListEndpointsCommand(MINE));
  return own(Endpoints.map(({ EndpointName }) => EndpointName));
}

async function endpointConfigs({ sagemaker }: Aws): Promise<string[]> {
  const { EndpointConfigs = [] } = await sagemaker.send(new ListEndpointConfigsCommand(MINE));
  return own(EndpointConfigs.map(({ EndpointConfigName }) => EndpointConfigName));
}

async function models({ sagemaker }: Aws): Promise<string[]> {
  const { Models = [] } = await sagemaker.send(new ListModelsCommand(MINE));
  return own(Models.map(({ ModelName }) => ModelName));
}

async function runningJobs({ sagemaker }: Aws): Promise<string[]> {
  const { TransformJobSummaries = [] } = await sagemaker.send(
    new ListTransformJobsCommand({ ...MINE, StatusEquals: 'InProgress' }),
  );
  return own(TransformJobSummaries.map(({ TransformJobName }) => TransformJobName));
}

async function stateMachines({ stepFunctions }: Aws): Promise<string[]> {
  const { stateMachines: all = [] } = await stepFunctions.send(new ListStateMachinesCommand());
  return all.flatMap(({ name, stateMachineArn }) =>
    name === PREFIX ? (stateMachineArn ?? []) : [],
  );
}

/** Calls CloudWatch Logs, after Ctrl-C too. */
function logs(aws: Aws, ...args: string[]): Promise<unknown> {
  return cli({ ...aws, signal: new AbortController().signal }, 'logs', ...args);
}

/** The group of all transform jobs of the account. */
const OF_JOBS = ['--log-group-name', '/aws/sagemaker/TransformJobs'];

async function logGroups(aws: Aws): Promise<string[]> {
  const prefix = `/aws/sagemaker/Endpoints/${PREFIX}-`;
  const found = await logs(aws, 'describe-log-groups', '--log-group-name-prefix', prefix);
  const { logGroups: all = [] } = found as { logGroups?: { logGroupName?: string }[] };
  return all.flatMap(({ logGroupName }) => (logGroupName?.startsWith(prefix) ? logGroupName : []));
}

async function logStreams(aws: Aws): Promise<string[]> {
  const start = ['--log-stream-name-prefix', `${PREFIX}-`];
  const found = await logs(aws, 'describe-log-streams', ...OF_JOBS, ...start);
  const { logStreams: all = [] } = found as { logStreams?: { logStreamName?: string }[] };
  return all.flatMap(({ logStreamName }) =>
    logStreamName?.startsWith(`${PREFIX}-`) ? logStreamName : [],
  );
}

async function removeBucket({ s3 }: Aws, Bucket: string): Promise<void> {
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket }));
  for (const { Key } of Contents) await s3.send(new DeleteObjectCommand({ Bucket, Key }));
  await s3.send(new DeleteBucketCommand({ Bucket }));
}
