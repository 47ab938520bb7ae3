/** Clients, names and waits. */
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { DescribeRegistryCommand, ECRClient } from '@aws-sdk/client-ecr';
import { IAMClient } from '@aws-sdk/client-iam';
import { S3Client } from '@aws-sdk/client-s3';
import { SageMakerClient } from '@aws-sdk/client-sagemaker';
import { SageMakerRuntimeClient } from '@aws-sdk/client-sagemaker-runtime';
import { SFNClient } from '@aws-sdk/client-sfn';
import { MAX_MINUTES } from './plan.ts';

/** Start of every name, by which what is left is found. */
export const PREFIX = 'tfs-first-account';

/** Clients of one region, and when to give up. */
export interface Aws {
  readonly region: string;
  readonly ecr: ECRClient;
  readonly iam: IAMClient;
  readonly s3: S3Client;
  readonly sagemaker: SageMakerClient;
  readonly runtime: SageMakerRuntimeClient;
  readonly stepFunctions: SFNClient;
  /** Milliseconds between two looks. */
  readonly pause: number;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

/** Clients from the environment's credentials. */
export async function connect(signal: AbortSignal, region?: string, pause = 15_000): Promise<Aws> {
  const config = region === undefined ? {} : { region };
  const sagemaker = new SageMakerClient(config);
  return {
    region: await sagemaker.config.region(),
    ecr: new ECRClient(config),
    iam: new IAMClient(config),
    s3: new S3Client({ ...config, forcePathStyle: 'AWS_ENDPOINT_URL_S3' in process.env }),
    sagemaker,
    runtime: new SageMakerRuntimeClient(config),
    stepFunctions: new SFNClient(config),
    pause,
    signal,
  };
}

/** The account of the credentials in use, and the partition of the region. */
export async function whoAmI({ ecr, region }: Aws) {
  const { registryId = '' } = await ecr.send(new DescribeRegistryCommand({}));
  const other = region.startsWith('cn-') ? 'aws-cn' : 'aws-us-gov';
  return { account: registryId, partition: /^(cn|us-gov)-/.test(region) ? other : 'aws' };
}

/**
 * Asks until there is an answer.
 * @throws after MAX_MINUTES, and when the run is ended
 */
export async function until<T>(aws: Aws, what: string, ask: () => Promise<T | undefined>) {
  const deadline = Date.now() + MAX_MINUTES * 60_000;
  for (;;) {
    aws.signal.throwIfAborted();
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > deadline) throw new Error(`${what} took more than ${MAX_MINUTES} minutes`);
    await sleep(aws.pause, undefined, { signal: aws.signal });
  }
}

/** How services say that they do not know a role yet, or not all of its policies. */
const NOT_YET =
  /assume|ensure that the role|does not have .*permission|not authorized to (perform|access)/i;
/** Minutes in which a new role reaches every service, at most. */
const SPREAD_MINUTES = 3;

/**
 * Makes a call that names the run's role, and makes it again while the role spreads.
 * @throws what else the call throws, and what it still throws after some minutes
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot.html (changes are not always immediately visible)
 */
export async function onceRoleSpread<T>(aws: Aws, call: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + SPREAD_MINUTES * 60_000;
  for (;;) {
    aws.signal.throwIfAborted();
    try {
      return await call();
    } catch (error) {
      if (!NOT_YET.test((error as Error).message) || Date.now() > deadline) throw error;
    }
    await sleep(aws.pause, undefined, { signal: aws.signal });
  }
}

const run = promisify(execFile);

/**
 * Answer of the AWS CLI, which has the clients that the project does not depend on.
 * @throws if it is not installed, or fails
 */
export async function cli({ region, signal }: Aws, ...args: string[]): Promise<unknown> {
  const all = [...args, '--region', region, '--output', 'json'];
  const { stdout } = await run('aws', all, { signal, maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(stdout || '{}') as unknown;
}

/** A program that must succeed, such as docker. */
export async function program(aws: Aws, name: string, ...args: string[]): Promise<void> {
  await run(name, args, { signal: aws.signal });
}
