/** Puts a packaged model into SageMaker's Model Registry as a new version of a group. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import { HeadObjectCommand, type PutObjectCommandInput, type S3Client } from '@aws-sdk/client-s3';
import {
  CreateModelPackageCommand,
  CreateModelPackageGroupCommand,
  DescribeModelPackageCommand,
  DescribeModelPackageGroupCommand,
  type InferenceSpecification,
  ListModelPackagesCommand,
  type SageMakerClient,
} from '@aws-sdk/client-sagemaker';
import {
  asDirectory,
  formatS3Uri,
  parseEcrImage,
  parseS3Uri,
  type S3Location,
} from '@sagemaker-tfs/batch';
import { putIf } from '@sagemaker-tfs/batch/s3';
import type { Manifest } from '@sagemaker-tfs/manifest';
import { layOut, requireManifestFiles } from '@sagemaker-tfs/model-packaging';
import type { AwsClients } from '../batch/aws/clients.ts';
import { CommandError, cannotRead, usageError } from '../errors.ts';
import { packageVersion } from '../files.ts';
import { type EvidenceFiles, readEvidence } from './evidence.ts';
import { type Approval, METADATA, packageRequest } from './package-request.ts';

/** What to register, and where. */
interface RegisterOptions {
  /** A `model.tar.gz` on this machine. */
  readonly archive: string;
  /** Name of the model package group; it is made if there is none. */
  readonly group: string;
  /** S3 prefix for the archive and its metrics. */
  readonly to: string;
  /** The serving image, in ECR. */
  readonly image: string;
  readonly evidence: EvidenceFiles;
  readonly approval: Approval;
  readonly description?: string | undefined;
  /** Variables of the container. */
  readonly environment: Readonly<Record<string, string>>;
  readonly contentTypes: readonly string[];
  readonly responseTypes: readonly string[];
  readonly instanceTypes: readonly string[];
}

/** A version in the registry. */
export interface Registered {
  readonly modelPackageArn: string;
  readonly fingerprint: string;
  /** `s3://BUCKET/KEY.tar.gz`. */
  readonly archiveUri: string;
  /** False if the newest version of the group was this model already, with this image, these variables and types. */
  readonly isNew: boolean;
  readonly status: string;
}

/** What S3 takes in one request. */
const MAX_BYTES = 5 * 1024 ** 3;

/**
 * Uploads the archive and its metrics, and makes a version, unless the newest version of the group is the same model
 * with the same image, variables and types.
 * @throws CommandError USAGE, FILE_NOT_FOUND, RUN_INVALID; PackagingError for an archive that cannot be read
 */
export async function register(
  { s3, sagemaker }: Pick<AwsClients, 's3' | 'sagemaker'>,
  options: RegisterOptions,
): Promise<Registered> {
  if (!parseEcrImage(options.image)) {
    throw usageError(
      `--image ${options.image} is no image of a private ECR repository. Write ACCOUNT.dkr.ecr.REGION.amazonaws.com/NAME:TAG.`,
    );
  }
  const manifest = await manifestOf(options.archive);
  const { fingerprint } = manifest;
  const evidence = await readEvidence(options.evidence, fingerprint);
  const digest = await digestOf(options.archive);
  const folder = folderFor(options.to, fingerprint, digest);
  const archiveUri = formatS3Uri({ ...folder, key: `${folder.key}model.tar.gz` });
  await ensureGroup(sagemaker, options.group);
  const newest = await newestVersion(sagemaker, options.group);
  if (newest?.fingerprint === fingerprint && isSameService(newest.serves, options)) {
    const { modelPackageArn, status, serves } = newest;
    // The same model may be in other bytes there.
    const its = serves?.Containers?.[0]?.ModelDataUrl ?? archiveUri;
    return { modelPackageArn, fingerprint, archiveUri: its, isNew: false, status };
  }
  await putOnce(s3, archiveUri, {
    Body: createReadStream(options.archive),
    ContentLength: (await stat(options.archive)).size,
    ContentType: 'application/gzip',
    ChecksumSHA256: digest.toString('base64'),
  });
  const hasMetrics = Object.keys(evidence.document).length > 0;
  const metricsUri = hasMetrics ? await uploadMetrics(s3, folder, evidence.document) : undefined;
  const request = packageRequest({
    ...options,
    description: options.description,
    fingerprint,
    manifest,
    archiveUri,
    evidence,
    metricsUri,
    command: packageVersion(),
  });
  const { ModelPackageArn: modelPackageArn = '' } = await sagemaker.send(
    new CreateModelPackageCommand(request),
  );
  const status = request.ModelApprovalStatus ?? '';
  return { modelPackageArn, fingerprint, archiveUri, isNew: true, status };
}

/** A folder for each model, and in it one for the bytes of the archive: what a version names never changes. */
function folderFor(to: string, fingerprint: string, digest: Buffer): S3Location {
  const { bucket, key } = asDirectory(parseS3Uri(to));
  return { bucket, key: `${key}${fingerprint.slice(0, 16)}/${shortOf(digest)}/` };
}

/** The first 16 digits. */
function shortOf(digest: Buffer): string {
  return digest.toString('hex').slice(0, 16);
}

/** SHA-256 of a file's bytes. */
async function digestOf(file: string): Promise<Buffer> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash).catch(cannotRead(file));
  return hash.digest();
}

async function manifestOf(archive: string): Promise<Manifest> {
  const { size } = await stat(archive).catch(cannotRead(archive));
  if (size > MAX_BYTES) {
    throw usageError(
      `${archive} has ${(size / 1024 ** 3).toFixed(1)} GiB, and one upload takes 5. Make the model smaller.`,
    );
  }
  const folder = await mkdtemp(join(tmpdir(), 'sagemaker-tfs-register-'));
  try {
    const { directory, manifest } = await layOut(archive, join(folder, 'model'));
    if (manifest) {
      await requireManifestFiles(directory, manifest);
      return manifest;
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  throw usageError(
    `${archive} has no code/manifest.json, which names the model. Package it with sagemaker-tfs package.`,
  );
}

/** Makes the group if there is none. */
async function ensureGroup(sagemaker: SageMakerClient, name: string): Promise<void> {
  try {
    await sagemaker.send(new DescribeModelPackageGroupCommand({ ModelPackageGroupName: name }));
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'ValidationException') throw error;
    await sagemaker.send(new CreateModelPackageGroupCommand({ ModelPackageGroupName: name }));
  }
}

async function newestVersion(sagemaker: SageMakerClient, group: string) {
  const { ModelPackageSummaryList: [summary] = [] } = await sagemaker.send(
    new ListModelPackagesCommand({
      ModelPackageGroupName: group,
      SortBy: 'CreationTime',
      SortOrder: 'Descending',
      MaxResults: 1,
    }),
  );
  const arn = summary?.ModelPackageArn;
  if (arn === undefined) return undefined;
  const described = await sagemaker.send(
    new DescribeModelPackageCommand({ ModelPackageName: arn }),
  );
  const { CustomerMetadataProperties: told = {}, ModelApprovalStatus: status = '' } = described;
  const serves = described.InferenceSpecification;
  return { modelPackageArn: arn, fingerprint: told[METADATA.fingerprint], serves, status };
}

/** Whether a version serves its model as these options do: SageMaker adds more to its description. */
function isSameService(
  { Containers = [], ...serves }: Partial<InferenceSpecification> = {},
  options: RegisterOptions,
): boolean {
  const [{ Image, Environment = {} } = {}] = Containers;
  const lists = [
    [serves.SupportedContentTypes, options.contentTypes],
    [serves.SupportedResponseMIMETypes, options.responseTypes],
    [serves.SupportedRealtimeInferenceInstanceTypes, options.instanceTypes],
  ] as const;
  return (
    Image === options.image &&
    isDeepStrictEqual({ ...Environment }, { ...options.environment }) &&
    lists.every(([there = [], given]) => isDeepStrictEqual([...there].sort(), [...given].sort()))
  );
}

/**
 * Writes an object if there is none: whatever names it gets these bytes for ever. The same bytes may be there already.
 * @throws CommandError OUTPUT_FAILED if others are
 */
async function putOnce(
  s3: S3Client,
  uri: string,
  object: Omit<PutObjectCommandInput, 'Bucket' | 'Key'> & { readonly ChecksumSHA256: string },
): Promise<void> {
  const { bucket: Bucket, key: Key } = parseS3Uri(uri);
  // Who may not list the bucket gets 403 for a missing object.
  const there = await s3
    .send(new HeadObjectCommand({ Bucket, Key, ChecksumMode: 'ENABLED' }))
    .catch(() => undefined);
  if (there?.ChecksumSHA256 === object.ChecksumSHA256) return;
  if (there) throw alreadyThere(uri);
  const place = { Bucket, Key, ChecksumAlgorithm: 'SHA256' as const };
  const written = await putIf(s3, { ...object, ...place }, { IfNoneMatch: '*' });
  if (written === undefined) throw alreadyThere(uri);
}

function alreadyThere(uri: string): CommandError {
  return new CommandError(
    'OUTPUT_FAILED',
    `another object is at ${uri}, and versions may name it. Give another prefix with --to, or try again if somebody else registers the same model now.`,
  );
}

/** Under a name that has their digest. @returns the URI */
async function uploadMetrics(
  s3: S3Client,
  { bucket, key }: S3Location,
  metrics: unknown,
): Promise<string> {
  const Body = `${JSON.stringify(metrics, null, 2)}\n`;
  const digest = createHash('sha256').update(Body).digest();
  const uri = formatS3Uri({ bucket, key: `${key}metrics-${shortOf(digest)}.json` });
  await putOnce(s3, uri, {
    Body,
    ContentType: 'application/json',
    ChecksumSHA256: digest.toString('base64'),
  });
  return uri;
}
