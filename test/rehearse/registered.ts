/**
 * The way through the Model Registry: a version is registered by the command, approved, and deployed as the page says, by the
 * newest approved one. A newer one is approved and deployed; after its rejection, the first is the newest again.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  CloudFormationClient,
  DescribeStackResourcesCommand,
} from '@aws-sdk/client-cloudformation';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import {
  DescribeModelCommand,
  ListModelPackagesCommand,
  type ModelApprovalStatus,
  SageMakerClient,
  UpdateModelPackageCommand,
} from '@aws-sdk/client-sagemaker';
import { ACCOUNT, awsEnvironment, bootstrapAndDeploy, REGION } from './cdk.ts';

const GROUP = 'digits';
const ARCHIVES = 's3://registered-models/versions/';
const IMAGE = `${ACCOUNT}.dkr.ecr.${REGION}.amazonaws.com/serving:1`;
/** The variable that the configuration reads. */
const VARIABLE = 'DIGITS_VERSION';

/** What the round needs. */
interface RoundOptions {
  readonly url: string;
  /** Folder of what it writes, below the project. */
  readonly work: string;
  /** Archives of two different models. */
  readonly first: string;
  readonly second: string;
}

/** @throws where a deployed model is not the version that was approved last */
export async function deployRegistered(options: RoundOptions): Promise<void> {
  const { url, work, first, second } = options;
  mkdirSync(work, { recursive: true });
  const s3 = new S3Client({ forcePathStyle: true });
  await s3.send(new CreateBucketCommand({ Bucket: 'registered-models' }));
  s3.destroy();
  const one = register(url, first);
  expectEqual(
    'a version that nobody has approved is deployed by nobody',
    await newest(),
    undefined,
  );
  await decide(one, 'Approved');
  expectEqual('the approved version is deployed', await deploy(options, 'first'), one);
  const two = register(url, second);
  expectEqual('a newer one waits for its approval', await newest(), one);
  await decide(two, 'Approved');
  expectEqual('the newer one is deployed', await deploy(options, 'second'), two);
  await decide(two, 'Rejected');
  expectEqual(
    'after its rejection, the first is deployed again',
    await deploy(options, 'third'),
    one,
  );
}

/** @returns the ARN of the version that `sagemaker-tfs register` has made */
function register(url: string, archive: string): string {
  const program = resolve('cli', 'bin', 'sagemaker-tfs.js');
  const args = [
    'register',
    archive,
    '--group',
    GROUP,
    '--to',
    ARCHIVES,
    '--image',
    IMAGE,
    '--json',
  ];
  const { stdout, stderr, status } = spawnSync(process.execPath, [program, ...args], {
    env: awsEnvironment(url),
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`register ended with status ${status}: ${stdout}${stderr}`);
  return (JSON.parse(stdout) as { modelPackageArn: string }).modelPackageArn;
}

/** Approves a version, or rejects it. */
async function decide(ModelPackageArn: string, status: ModelApprovalStatus): Promise<void> {
  const ModelApprovalStatus = status;
  await new SageMakerClient({}).send(
    new UpdateModelPackageCommand({ ModelPackageArn, ModelApprovalStatus }),
  );
}

/** The newest approved version, asked for as the page says. */
async function newest(): Promise<string | undefined> {
  const { ModelPackageSummaryList: [found] = [] } = await new SageMakerClient({}).send(
    new ListModelPackagesCommand({
      ModelPackageGroupName: GROUP,
      ModelApprovalStatus: 'Approved',
      SortBy: 'CreationTime',
      SortOrder: 'Descending',
    }),
  );
  return found?.ModelPackageArn;
}

/**
 * Deploys the newest approved version.
 * @param name of the stacks: moto cannot update one
 * @returns the version that the deployed model names
 */
async function deploy({ url, work }: RoundOptions, name: string): Promise<string | undefined> {
  const config = join(work, `${name}.config.ts`);
  writeFileSync(
    config,
    `export default {
  name: '${name}',
  models: {
    ${GROUP}: {
      modelPackage: {
        arn: process.env.${VARIABLE} ?? '',
        archives: '${ARCHIVES}',
        image: '${IMAGE}',
      },
      endpoint: { instanceType: 'ml.m5.xlarge' },
    },
  },
};
`,
  );
  process.env[VARIABLE] = await newest();
  const output = join(work, `${name}.out`);
  bootstrapAndDeploy({ url, config, output, docker: 'docker' });
  return versionOf(`${name}-${GROUP}`);
}

async function versionOf(StackName: string): Promise<string | undefined> {
  const { StackResources = [] } = await new CloudFormationClient({}).send(
    new DescribeStackResourcesCommand({ StackName }),
  );
  const model = StackResources.find(({ ResourceType }) => ResourceType === 'AWS::SageMaker::Model');
  const ModelName = model?.PhysicalResourceId?.split('/').at(-1);
  const { PrimaryContainer } = await new SageMakerClient({}).send(
    new DescribeModelCommand({ ModelName }),
  );
  return PrimaryContainer?.ModelPackageName;
}

function expectEqual(what: string, got: string | undefined, wanted: string | undefined): void {
  if (got !== wanted) throw new Error(`${what}: got ${got}, wanted ${wanted}`);
  console.log(`\n✔ ${what}: ${got ?? 'none'}`);
}
