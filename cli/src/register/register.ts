/** Puts a packaged model into SageMaker's Model Registry as a new version of a group. */
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HeadObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import {
  CreateModelPackageCommand,
  CreateModelPackageGroupCommand,
  DescribeModelPackageCommand,
  DescribeModelPackageGroupCommand,
  ListModelPackagesCommand,
  type SageMakerClient,
} from '@aws-sdk/client-sagemaker';
import { asDirectory, formatS3Uri, parseEcrImage, parseS3Uri } from '@sagemaker-tfs/batch';
import type { Manifest } from '@sagemaker-tfs/manifest';
import { layOut } from '@sagemaker-tfs/model-packaging';
import type { AwsClients } from '../batch/aws/clients.ts';
import { cannotRead, usageError } from '../errors.ts';
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
  /** False if the newest version of the group was this model with this image already. */
  readonly isNew: boolean;
  readonly status: string;
}

/** What S3 takes in one request. */
const MAX_BYTES = 5 * 1024 ** 3;

/**
 * Uploads the archive and its metrics, and makes a version, unless the newest version of the group is the same model
 * with the same image.
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
  const folder = folderFor(options.to, fingerprint);
  const archiveUri = formatS3Uri({ ...folder, key: `${folder.key}model.tar.gz` });
  await ensureGroup(sagemaker, options.group);
  const newest = await newestVersion(sagemaker, options.group);
  if (newest?.fingerprint === fingerprint && newest.image === options.image) {
    const { modelPackageArn, status } = newest;
    return { modelPackageArn, fingerprint, archiveUri, isNew: false, status };
  }
  await uploadArchive(s3, options.archive, archiveUri);
  const hasMetrics = Object.keys(evidence.document).length > 0;
  const metricsUri = hasMetrics
    ? await uploadJson(s3, { ...folder, key: `${folder.key}metrics.json` }, evidence.document)
    : undefined;
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

/** A folder for each fingerprint: what a version names never changes. */
function folderFor(to: string, fingerprint: string) {
  const { bucket, key } = asDirectory(parseS3Uri(to));
  return { bucket, key: `${key}${fingerprint.slice(0, 16)}/` };
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
    const { manifest } = await layOut(archive, join(folder, 'model'));
    if (manifest) return manifest;
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
  const { CustomerMetadataProperties: told = {}, ModelApprovalStatus: status = '' } =
    await sagemaker.send(new DescribeModelPackageCommand({ ModelPackageName: arn }));
  return {
    modelPackageArn: arn,
    fingerprint: told[METADATA.fingerprint],
    image: told[METADATA.image],
    status,
  };
}

async function uploadArchive(s3: S3Client, file: string, uri: string): Promise<void> {
  const { bucket: Bucket, key: Key } = parseS3Uri(uri);
  const { size } = await stat(file).catch(cannotRead(file));
  const there = await s3.send(new HeadObjectCommand({ Bucket, Key })).catch(() => undefined);
  // Its folder has the fingerprint of its content.
  if (there?.ContentLength === size) return;
  const Body = createReadStream(file);
  await s3.send(
    new PutObjectCommand({
      Bucket,
      Key,
      Body,
      ContentLength: size,
      ContentType: 'application/gzip',
    }),
  );
}

/** @returns the URI */
async function uploadJson(
  s3: S3Client,
  { bucket: Bucket, key: Key }: { readonly bucket: string; readonly key: string },
  value: unknown,
): Promise<string> {
  const Body = `${JSON.stringify(value, null, 2)}\n`;
  await s3.send(new PutObjectCommand({ Bucket, Key, Body, ContentType: 'application/json' }));
  return formatS3Uri({ bucket: Bucket, key: Key });
}
