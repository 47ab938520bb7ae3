/** The state machine of a batch transform, for tests that execute it. */
import { Template } from 'aws-cdk-lib/assertions';
import { Bucket, type IBucket } from 'aws-cdk-lib/aws-s3';
import type { Stack } from 'aws-cdk-lib/core';
import { handler, type ShardRequest } from '../../lib/batch/handler/index.ts';
import { handler as stop } from '../../lib/batch/stop-handler/index.ts';
import { BatchTransform, type BatchTransformProps } from '../../lib/index.ts';
import { taskProblems } from '../service-models/requests.ts';
import { testModel, testStack } from '../support/stacks.ts';
import { execute, type Histories, type Service, StateError } from './asl.ts';
import type { S3StandIn } from './s3-stand-in.ts';

/** The bucket of inputs and outputs. */
const bucketOf = (stack: Stack): IBucket => Bucket.fromBucketName(stack, 'Bucket', 'data');

/** A stack with one batch transform. */
export function batchTemplate(props: (stack: Stack) => Partial<BatchTransformProps> = () => ({})) {
  const stack = testStack();
  const bucket = bucketOf(stack);
  new BatchTransform(stack, 'Batch', {
    model: testModel(stack),
    input: { bucket, prefix: 'input/' },
    output: { bucket, prefix: 'output/' },
    ...props(stack),
  });
  return Template.fromStack(stack);
}

/** The definition, with a name instead of every reference. */
export function machineOf(template: Template): object {
  const [machine] = Object.values(template.findResources('AWS::StepFunctions::StateMachine'));
  const definition = machine?.Properties.DefinitionString as { 'Fn::Join': [string, unknown[]] };
  const [, parts] = definition['Fn::Join'];
  const text = parts.map((part) => (typeof part === 'string' ? part : nameOf(part))).join('');
  return JSON.parse(text) as object;
}

function nameOf(reference: unknown): string {
  const [value] = Object.values(reference as Record<string, string | [string, string]>);
  if (value === 'AWS::Partition') return 'aws';
  return typeof value === 'string' ? value : (value?.join('.') ?? '');
}

/** Arguments of CreateTransformJob. */
export interface Job {
  readonly TransformJobName: string;
  readonly TransformInput: { DataSource: { S3DataSource: { S3DataType: string; S3Uri: string } } };
  readonly TransformResources: { readonly InstanceCount: number; readonly InstanceType: string };
  readonly [field: string]: unknown;
}

const CREATE = 'arn:aws:states:::aws-sdk:sagemaker:createTransformJob';
/** Resource of the state that looks at a job. */
export const DESCRIBE = 'arn:aws:states:::aws-sdk:sagemaker:describeTransformJob';

/** Thrown by a test's `transform` for a job that was accepted and failed. */
export const failed = (FailureReason: string) =>
  new StateError('States.TaskFailed', JSON.stringify({ FailureReason }));
/** Thrown for a job that SageMaker refused. */
export const refused = (message: string, error = 'SageMakerException') =>
  new StateError(`SageMaker.${error}`, message);

/** Runs the machine; every transform job is kept, and answered by `transform`. */
export async function run(
  machine: object,
  input: unknown,
  transform: (job: Job) => unknown = () => {},
  other: Service = () => ({}),
) {
  const jobs: Job[] = [];
  const waits: number[] = [];
  const failures = new Map<string, unknown>();
  const results = new Map<string, object>();
  const service: Service = async (resource, args) => {
    if (resource === 'wait') return waits.push(args as number);
    // References stand in a template without their values.
    const problems = taskProblems(resource, args).filter(
      (line) => !/(Arn|Name|KeyId): /.test(line),
    );
    if (problems.length > 0) throw new Error(problems.join('; '));
    if (resource === DESCRIBE) {
      const answer = (await other(resource, args)) as object;
      const { TransformJobName } = args as Job;
      if ('TransformJobStatus' in answer) return answer;
      const failure = failures.get(TransformJobName);
      return failure
        ? { TransformJobName, TransformJobStatus: 'Failed', ...failure }
        : { TransformJobName, TransformJobStatus: 'Completed', ...results.get(TransformJobName) };
    }
    if (resource !== CREATE) {
      const answer = (await other(resource, args)) as object;
      // A function that a test does not care about lets the run begin.
      if (!resource.endsWith('lambda:invoke') || 'Payload' in answer) return answer;
      return { Payload: { since: { origin: 0, run: 0 } } };
    }
    const job = args as Job;
    jobs.push(job);
    try {
      results.set(job.TransformJobName, (transform(job) ?? {}) as object);
    } catch (error) {
      if (!(error instanceof StateError) || error.error !== 'States.TaskFailed') throw error;
      failures.set(job.TransformJobName, JSON.parse(error.cause));
    }
    return { TransformJobArn: `arn:aws:sagemaker:x:1:transform-job/${job.TransformJobName}` };
  };
  const histories: Histories = { longest: 0 };
  const output = await execute(machine, input, service, undefined, histories).catch(
    (error: unknown) => {
      if (error instanceof StateError) return error;
      throw error;
    },
  );
  return { jobs, output, waits, longestHistory: histories.longest };
}

/** What SageMaker does with the manifest of a job: it writes an output for every key that is not refused. */
export function writeOutputs(s3: S3StandIn, refused: readonly string[] = []) {
  return (job: Job) => {
    const { S3Uri } = job.TransformInput.DataSource.S3DataSource;
    const manifest = s3.objects.get(S3Uri.replace('s3://', ''));
    const [, ...keys] = JSON.parse(String(manifest)) as [unknown, ...string[]];
    for (const key of keys) {
      if (refused.includes(key)) continue;
      s3.objects.set(`data/output/${key}.out`, Buffer.from('{}'));
      s3.modified.set(`data/output/${key}.out`, s3.now);
    }
    const wrong = keys.filter((key) => refused.includes(key));
    if (wrong.length > 0) {
      const FailureReason = `cannot decode ${wrong.join()}`;
      throw failed(FailureReason);
    }
  };
}

/** Start of the names of jobs of {@link batchTemplate}. */
export const JOB_PREFIX = 'test-batch-e415e2ba';

/** The real functions with Lambda's names of errors, and the listing of the maps. */
export function functionOn(s3: S3StandIn, milliseconds: () => number = () => 900_000): Service {
  return async (resource, args) => {
    if (resource.endsWith('lambda:invoke')) {
      const { Payload } = args as { Payload: ShardRequest | Parameters<typeof stop>[0] };
      try {
        if (!('action' in Payload)) {
          process.env.JOB_NAME_PREFIX = JOB_PREFIX;
          await stop(Payload);
          return { Payload: null };
        }
        return { Payload: await handler(Payload, { getRemainingTimeInMillis: milliseconds }) };
      } catch (error) {
        const { name: errorType, message: errorMessage } = error as Error;
        throw new StateError(errorType, JSON.stringify({ errorType, errorMessage }));
      }
    }
    const { Bucket: bucket, Prefix } = args as { Bucket: string; Prefix: string };
    return [...s3.objects.keys()]
      .filter((path) => path.startsWith(`${bucket}/${Prefix}`))
      .sort()
      .map((path) => ({ Key: path.slice(bucket.length + 1) }));
  };
}
