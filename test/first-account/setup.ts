/** What every stage needs: a role, a bucket with inputs, and the probe's image in ECR. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { CreateRepositoryCommand, GetAuthorizationTokenCommand } from '@aws-sdk/client-ecr';
import { CreateRoleCommand, PutRolePolicyCommand } from '@aws-sdk/client-iam';
import { CreateBucketCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { type Aws, PREFIX, program } from './aws.ts';

/** What the stages work with. */
export interface Ground {
  readonly bucket: string;
  readonly partition: string;
  readonly roleArn: string;
  /** Image with Docker's manifest. */
  readonly image: string;
  /** The same with an OCI manifest; undefined if it could not be pushed. */
  readonly ociImage: string | undefined;
}

/** Name of the run's bucket. */
export function bucketOf(account: string, region: string): string {
  return `${PREFIX}-${account}-${region}`;
}

/** Makes it. */
export async function setUp(aws: Aws, account: string, partition: string): Promise<Ground> {
  const bucket = bucketOf(account, aws.region);
  const elsewhere = aws.region === 'us-east-1' ? undefined : aws.region;
  await aws.s3.send(
    new CreateBucketCommand({
      Bucket: bucket,
      ...(elsewhere && {
        CreateBucketConfiguration: { LocationConstraint: elsewhere as 'eu-west-1' },
      }),
    }),
  );
  for (const Key of [
    'input/a.json',
    'input/sub/b.json',
    'models/one.tar.gz',
    'models/two.tar.gz',
  ]) {
    await aws.s3.send(
      new PutObjectCommand({
        Bucket: bucket,
        Key,
        Body: Key.endsWith('gz') ? EMPTY_ARCHIVE : '{}',
      }),
    );
  }
  const roleArn = await createRole(aws, bucket, partition);
  const { repository } = await aws.ecr.send(
    new CreateRepositoryCommand({ repositoryName: PREFIX }),
  );
  const uri = repository?.repositoryUri ?? '';
  await logIn(aws, uri);
  const image = await push(aws, `${uri}:docker`, 'type=docker');
  const ociImage = await push(aws, `${uri}:oci`, 'type=oci').catch(() => undefined);
  return { bucket, partition, roleArn, image, ociImage };
}

/** A gzip file of a tar archive without files. */
const EMPTY_ARCHIVE = gzipSync(Buffer.alloc(1024));

async function createRole(aws: Aws, bucket: string, partition: string): Promise<string> {
  const trust = {
    Version: '2012-10-17',
    Statement: [
      {
        Effect: 'Allow',
        Action: 'sts:AssumeRole',
        Principal: { Service: ['sagemaker.amazonaws.com', 'states.amazonaws.com'] },
      },
    ],
  };
  const { Role } = await aws.iam.send(
    new CreateRoleCommand({ RoleName: PREFIX, AssumeRolePolicyDocument: JSON.stringify(trust) }),
  );
  const arn = `arn:${partition}:s3:::${bucket}`;
  const statements = [
    {
      Action: ['sagemaker:CreateTransformJob', 'sagemaker:AddTags'],
      Resource: `arn:${partition}:sagemaker:${aws.region}:*:transform-job/${PREFIX}-*`,
    },
    { Action: ['s3:GetObject', 's3:PutObject', 's3:ListBucket'], Resource: [arn, `${arn}/*`] },
    {
      Action: [
        'ecr:BatchGetImage',
        'ecr:GetDownloadUrlForLayer',
        'ecr:BatchCheckLayerAvailability',
      ],
      Resource: `arn:${partition}:ecr:${aws.region}:*:repository/${PREFIX}`,
    },
    {
      Action: [
        'ecr:GetAuthorizationToken',
        'cloudwatch:PutMetricData',
        'logs:CreateLogGroup',
        'logs:CreateLogStream',
        'logs:DescribeLogStreams',
        'logs:PutLogEvents',
      ],
      Resource: '*',
    },
  ];
  await aws.iam.send(
    new PutRolePolicyCommand({
      RoleName: PREFIX,
      PolicyName: PREFIX,
      PolicyDocument: JSON.stringify({
        Version: '2012-10-17',
        Statement: statements.map((statement) => ({ Effect: 'Allow', ...statement })),
      }),
    }),
  );
  return Role?.Arn ?? '';
}

const DOCKER = process.env.CDK_DOCKER ?? 'docker';

async function logIn(aws: Aws, uri: string): Promise<void> {
  const { authorizationData } = await aws.ecr.send(new GetAuthorizationTokenCommand({}));
  const token = Buffer.from(authorizationData?.[0]?.authorizationToken ?? '', 'base64').toString();
  const [user = '', password = ''] = token.split(':');
  const args = ['login', '--username', user, '--password-stdin', uri.split('/')[0] ?? ''];
  const child = spawn(DOCKER, args, { stdio: ['pipe', 'ignore', 'ignore'], signal: aws.signal });
  // It may end without reading: how it ended says why.
  child.stdin.on('error', () => undefined);
  child.stdin.end(password);
  const [status] = (await once(child, 'close')) as [number];
  if (status !== 0) throw new Error(`${DOCKER} login ended with status ${status}`);
}

/** @param kind of manifest, as BuildKit names its outputs */
async function push(aws: Aws, tag: string, kind: 'type=docker' | 'type=oci'): Promise<string> {
  const context = join(import.meta.dirname, 'probe');
  const common = ['--provenance=false', '--platform', 'linux/amd64', '--tag', tag];
  if (kind === 'type=docker') {
    await program(aws, DOCKER, 'build', ...common, '--output', kind, context);
    await program(aws, DOCKER, 'push', tag);
  } else {
    const output = `type=image,oci-mediatypes=true,push=true,name=${tag}`;
    await program(aws, DOCKER, 'buildx', 'build', ...common, '--output', output, context);
  }
  return tag;
}
