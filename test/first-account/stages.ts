/** The stages: each makes one thing, asks it, and writes down what it found. */
import { setTimeout as sleep } from 'node:timers/promises';
import { GetObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import {
  CreateEndpointCommand,
  CreateEndpointConfigCommand,
  CreateModelCommand,
  CreateTransformJobCommand,
  DeleteEndpointCommand,
  DescribeEndpointCommand,
  DescribeTransformJobCommand,
  type ProductionVariant,
} from '@aws-sdk/client-sagemaker';
import { InvokeEndpointCommand } from '@aws-sdk/client-sagemaker-runtime';
import {
  CreateStateMachineCommand,
  DescribeExecutionCommand,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn';
import { type Aws, cli, onceRoleSpread, PREFIX, until } from './aws.ts';
import type { Evidence, Seen } from './facts.ts';
import type { Ground } from './setup.ts';

const GPU_TYPE = 'ml.g4dn.xlarge';
const GPU_AMI = 'al2-ami-sagemaker-inference-gpu-3-1';
const TRANSFORM_AMI = 'al2-ami-sagemaker-batch-gpu-535';

/** What an endpoint of the probe differs in. */
interface EndpointOf {
  readonly name: string;
  readonly variant: Partial<ProductionVariant>;
  readonly environment?: Record<string, string>;
  readonly multiModel?: boolean;
}

async function createModel(aws: Aws, ground: Ground, name: string, options: Partial<EndpointOf>) {
  const command = () =>
    new CreateModelCommand({
      ModelName: `${PREFIX}-${name}`,
      ExecutionRoleArn: ground.roleArn,
      PrimaryContainer: {
        Image: ground.image,
        Environment: { ...options.environment },
        ...(options.multiModel && {
          Mode: 'MultiModel',
          ModelDataUrl: `s3://${ground.bucket}/models/`,
        }),
      },
    });
  await onceRoleSpread(aws, () => aws.sagemaker.send(command()));
}

/** Makes an endpoint and waits until it answers. @returns its name */
async function startEndpoint(aws: Aws, ground: Ground, endpoint: EndpointOf): Promise<string> {
  const EndpointName = `${PREFIX}-${endpoint.name}`;
  await createModel(aws, ground, endpoint.name, endpoint);
  await aws.sagemaker.send(
    new CreateEndpointConfigCommand({
      EndpointConfigName: EndpointName,
      ProductionVariants: [
        { VariantName: 'AllTraffic', ModelName: EndpointName, ...endpoint.variant },
      ],
    }),
  );
  await aws.sagemaker.send(
    new CreateEndpointCommand({ EndpointName, EndpointConfigName: EndpointName }),
  );
  await until(aws, EndpointName, async () => {
    const state = await aws.sagemaker.send(new DescribeEndpointCommand({ EndpointName }));
    if (state.EndpointStatus === 'Failed') throw new Error(state.FailureReason);
    return state.EndpointStatus === 'InService' || undefined;
  });
  return EndpointName;
}

async function ask(
  aws: Aws,
  EndpointName: string,
  body = '{}',
  TargetModel?: string,
): Promise<Seen> {
  const { Body } = await aws.runtime.send(
    new InvokeEndpointCommand({
      EndpointName,
      ContentType: 'application/json',
      Body: body,
      ...(TargetModel && { TargetModel }),
    }),
    { abortSignal: aws.signal },
  );
  return JSON.parse(Buffer.from(Body ?? []).toString()) as Seen;
}

const instances = (InstanceType: string, more: Partial<ProductionVariant> = {}) =>
  ({ InstanceType, InitialInstanceCount: 1, ...more }) as Partial<ProductionVariant>;

/** Whether CreateModel takes an image: '' where it does, else what it says. */
async function taken(aws: Aws, ground: Ground, image: string, name: string): Promise<string> {
  try {
    await createModel(aws, { ...ground, image }, name, {});
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

async function manifests(aws: Aws, ground: Ground, evidence: Evidence): Promise<void> {
  const { image, ociImage } = ground;
  evidence.manifests = {
    docker: await taken(aws, ground, image, 'docker-manifest'),
    ...(ociImage && { oci: await taken(aws, ground, ociImage, 'oci-manifest') }),
  };
  if (!ociImage) throw new Error('docker buildx could not push an OCI image');
}

async function cpu(aws: Aws, ground: Ground, evidence: Evidence): Promise<string> {
  const name = await startEndpoint(aws, ground, {
    name: 'cpu',
    variant: instances('ml.m5.large'),
    environment: { PROBE_PING_BODY: '1' },
  });
  evidence.cpu = await ask(aws, name);
  return name;
}

function gpu(ami: string) {
  return async (aws: Aws, ground: Ground, evidence: Evidence): Promise<void> => {
    const more = (ami ? { InferenceAmiVersion: ami } : {}) as Partial<ProductionVariant>;
    const name = ami ? 'gpu-ami' : 'gpu';
    const seen = await ask(
      aws,
      await startEndpoint(aws, ground, { name, variant: instances(GPU_TYPE, more) }),
    );
    evidence.gpu = { ...evidence.gpu, [ami]: seen };
  };
}

async function serverless(aws: Aws, ground: Ground, evidence: Evidence): Promise<void> {
  const variant = { ServerlessConfig: { MemorySizeInMB: 1024, MaxConcurrency: 1 } };
  evidence.serverless = await ask(
    aws,
    await startEndpoint(aws, ground, { name: 'serverless', variant }),
  );
}

/** Milliseconds after which a request has surely reached a model that is loaded. */
const REACHED_MS = 5_000;

/** One model is asked and holds; the other does not fit beside it. */
async function multiModel(aws: Aws, ground: Ground, evidence: Evidence): Promise<void> {
  const name = await startEndpoint(aws, ground, {
    name: 'multi-model',
    variant: instances('ml.m5.large'),
    multiModel: true,
  });
  await ask(aws, name, '{}', 'one.tar.gz');
  const held = ask(aws, name, '{"hold":true}', 'one.tar.gz').catch(() => undefined);
  await sleep(Math.min(aws.pause, REACHED_MS), undefined, { signal: aws.signal });
  const other = await ask(aws, name, '{}', 'two.tar.gz').catch(() => undefined);
  await held;
  evidence.multiModel = other ?? (await ask(aws, name, '{}', 'one.tar.gz'));
}

const TRANSFORM_JOB = `${PREFIX}-transform`;

/** Arguments of CreateTransformJob. */
const jobOf = ({ bucket }: Ground) => ({
  TransformJobName: TRANSFORM_JOB,
  ModelName: TRANSFORM_JOB,
  TransformInput: {
    ContentType: 'application/json',
    DataSource: {
      S3DataSource: { S3DataType: 'S3Prefix' as const, S3Uri: `s3://${bucket}/input/` },
    },
  },
  TransformOutput: { S3OutputPath: `s3://${bucket}/output/` },
  TransformResources: {
    InstanceType: GPU_TYPE,
    InstanceCount: 1,
    TransformAmiVersion: TRANSFORM_AMI,
  } as { InstanceType: typeof GPU_TYPE; InstanceCount: number },
});

/** '' if there is none. */
const amiOf = (resources: object | undefined) =>
  String((resources as { TransformAmiVersion?: unknown } | undefined)?.TransformAmiVersion ?? '');

const ENDED_BADLY = ['FAILED', 'TIMED_OUT', 'ABORTED'];

/** Makes the job as the state machine of `BatchTransform` does. @throws what Step Functions says against it */
async function startByStateMachine(aws: Aws, ground: Ground): Promise<void> {
  const definition = JSON.stringify({
    QueryLanguage: 'JSONata',
    StartAt: 'Create',
    States: {
      Create: {
        Type: 'Task',
        Resource: `arn:${ground.partition}:states:::aws-sdk:sagemaker:createTransformJob`,
        Arguments: jobOf(ground),
        End: true,
      },
    },
  });
  const { stateMachineArn } = await onceRoleSpread(aws, () =>
    aws.stepFunctions.send(
      new CreateStateMachineCommand({ name: PREFIX, roleArn: ground.roleArn, definition }),
    ),
  );
  const { executionArn } = await aws.stepFunctions.send(
    new StartExecutionCommand({ stateMachineArn }),
  );
  await until(aws, 'the state machine', async () => {
    const { status, error, cause } = await aws.stepFunctions.send(
      new DescribeExecutionCommand({ executionArn }),
    );
    if (ENDED_BADLY.includes(status ?? '')) throw new Error(`${error}: ${cause}`);
    return status === 'SUCCEEDED' || undefined;
  });
}

async function transform(aws: Aws, ground: Ground, evidence: Evidence): Promise<void> {
  const name = TRANSFORM_JOB;
  await createModel(aws, ground, 'transform', {});
  let byStateMachine = true;
  try {
    await startByStateMachine(aws, ground);
  } catch (error) {
    aws.signal.throwIfAborted();
    evidence.failures['step-functions'] = (error as Error).message;
    byStateMachine = false;
    await aws.sagemaker.send(new CreateTransformJobCommand(jobOf(ground)));
  }
  await until(aws, name, async () => {
    const job = await aws.sagemaker.send(
      new DescribeTransformJobCommand({ TransformJobName: name }),
    );
    if (byStateMachine) evidence.stateMachineAmi = amiOf(job.TransformResources);
    if (job.TransformJobStatus === 'Failed') throw new Error(job.FailureReason);
    return job.TransformJobStatus === 'Completed' || undefined;
  });
  const listed = await aws.s3.send(
    new ListObjectsV2Command({ Bucket: ground.bucket, Prefix: 'output/' }),
  );
  const keys = (listed.Contents ?? []).flatMap(({ Key }) => Key ?? []);
  const outputs = keys.map((key) => key.slice('output/'.length));
  evidence.transform = { outputs };
  const [Key] = keys;
  if (!Key) return;
  const { Body } = await aws.s3.send(new GetObjectCommand({ Bucket: ground.bucket, Key }));
  const seen = JSON.parse((await Body?.transformToString()) ?? '{}') as Seen;
  evidence.transform = { outputs, seen };
}

/** Lines and metrics take minutes to arrive; the AWS CLI reads them. */
async function metrics(aws: Aws, evidence: Evidence): Promise<void> {
  const found = (await cli(aws, 'cloudwatch', 'list-metrics', '--namespace', PREFIX)) as {
    Metrics?: unknown[];
  };
  evidence.metrics = found.Metrics?.length ?? 0;
}

/** Ends the endpoint and reads how long its container went on. */
async function sigterm(aws: Aws, EndpointName: string, evidence: Evidence): Promise<void> {
  await aws.sagemaker.send(new DeleteEndpointCommand({ EndpointName }));
  const group = `/aws/sagemaker/Endpoints/${EndpointName}`;
  let before = -1;
  await until(aws, `the log of ${EndpointName}`, async () => {
    const args = ['--log-group-name', group, '--filter-pattern', '"PROBE alive"'];
    const { events = [] } = (await cli(aws, 'logs', 'filter-log-events', ...args)) as {
      events?: { message: string }[];
    };
    const seconds = events.map(({ message }) => Number(/alive ([\d.]+)/.exec(message)?.[1] ?? 0));
    const last = Math.max(-1, ...seconds);
    const settled = last >= 0 && last === before;
    before = last;
    return settled || undefined;
  });
  evidence.sigtermSeconds = before;
}

/** Runs all stages at once; one that fails leaves its facts unknown. */
export async function gather(
  aws: Aws,
  ground: Ground,
  evidence: Evidence,
  tell: (line: string) => void,
): Promise<void> {
  const stage = async <T>(name: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      const result = await work();
      tell(`${name}: done`);
      return result;
    } catch (error) {
      evidence.failures[name] = (error as Error).message;
      tell(`${name}: ${(error as Error).message}`);
      return undefined;
    }
  };
  const onCpu = async () => {
    const name = await stage('cpu', () => cpu(aws, ground, evidence));
    if (name === undefined) return;
    await stage('sigterm', () => sigterm(aws, name, evidence));
    await stage('metrics', () => metrics(aws, evidence));
  };
  await Promise.all([
    stage('manifests', () => manifests(aws, ground, evidence)),
    onCpu(),
    stage('gpu', () => gpu('')(aws, ground, evidence)),
    stage('gpu-ami', () => gpu(GPU_AMI)(aws, ground, evidence)),
    stage('serverless', () => serverless(aws, ground, evidence)),
    stage('multi-model', () => multiModel(aws, ground, evidence)),
    stage('transform', () => transform(aws, ground, evidence)),
  ]);
  aws.signal.throwIfAborted();
}
