/** A model packaged during synthesis: the archive as a CDK asset, and the manifest that tells what is in it. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { MANIFEST_PATH, type Manifest, parseManifest } from '@sagemaker-tfs/manifest';
import { type AssetStaging, FileAssetPackaging, Stack, Token } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { commandFile } from 'sagemaker-tfs/files';
import { ConstructError } from '../errors.ts';
import { shortDigest } from '../hashing/short-digest.ts';
import { stagedDirectory } from '../hashing/staged-directory.ts';
import { hashSources, type ModelSources } from './inputs.ts';
import { trySamplesOnce } from './tried-samples.ts';

const ARCHIVE = 'model.tar.gz';
const MANIFEST = basename(MANIFEST_PATH);
const UNPACKED = 'unpacked';

/** The command that packages, in a process of its own: packaging is asynchronous, constructs are not. */
const COMMAND = commandFile();

/** Props of {@link PackagedModel}. */
export interface PackagedModelProps extends ModelSources {
  /**
   * Whether the model is uploaded as one `model.tar.gz`, or unpacked as a zip for {@link unpackedPath}.
   * @default false
   */
  readonly unpacked?: boolean;
  /**
   * What the key of the archive begins with in the CDK's asset bucket, before its hash.
   * @default - made from the construct's path
   */
  readonly archiveName?: string;
}

/** A packaged model's archive in the CDK's asset bucket. */
export interface UploadedArchive {
  readonly bucketName: string;
  readonly objectKey: string;
  /**
   * Pattern of the keys of this model's archives, those of other deployments too; undefined if synthesis does not
   * know the key.
   */
  readonly allKeys: string | undefined;
}

/**
 * Packages in the asset's bundling step. The result lies in the cloud assembly under a hash of its
 * sources, so a model that has not changed is not packaged again.
 */
export class PackagedModel extends Construct {
  /** Hash of the sources, which names the asset. */
  readonly assetHash: string;
  /**
   * What the archive holds; undefined while the CDK skips bundling because this stack is not among those
   * to deploy.
   */
  readonly manifest: Manifest | undefined;
  /** SHA-256 of model and handler together; of their sources while bundling is skipped. */
  readonly fingerprint: string;
  private readonly staging: AssetStaging;
  private readonly archiveName: string;

  constructor(scope: Construct, id: string, props: PackagedModelProps) {
    super(scope, id);
    this.archiveName = archiveName(props.archiveName ?? this.node.path);
    const assetHash = hashSources(this, props);
    this.staging = stagedDirectory(this, 'Staging', {
      sourcePath: props.model,
      assetHash: props.unpacked ? `${assetHash}-unpacked` : assetHash,
      write: (directory) => this.package(props, directory),
    });
    this.assetHash = this.staging.assetHash;
    this.tryNewSamples(props);
    this.manifest = this.readManifest();
    this.fingerprint = this.manifest?.fingerprint ?? assetHash;
  }

  /** Path of the staged `model.tar.gz`, relative to the cloud assembly of `stack`. */
  private archivePath(stack: Stack): string {
    return join(this.staging.relativeStagedPath(stack), ARCHIVE);
  }

  /**
   * Uploads `model.tar.gz`, under a key that ends so: SageMaker asks for that suffix. The key begins with the model's
   * name, so that a policy can name this model's archives and no others.
   */
  uploadArchive(): UploadedArchive {
    const stack = Stack.of(this);
    const { bucketName, objectKey } = stack.synthesizer.addFileAsset({
      // A hyphen, because `cdk gc` reads up to the first dot. The synthesizer adds only the last extension.
      sourceHash: `${this.archiveName}-${this.assetHash}.tar`,
      fileName: this.archivePath(stack),
      packaging: FileAssetPackaging.FILE,
      displayName: this.node.path,
    });
    const isKnown = !Token.isUnresolved(objectKey) && objectKey.includes(this.assetHash);
    const allKeys = isKnown ? objectKey.replace(this.assetHash, '*') : undefined;
    return { bucketName, objectKey, allKeys };
  }

  /** Directory with the archive's files as they are; only with `unpacked`. */
  get unpackedPath(): string {
    const path = join(this.staging.absoluteStagedPath, UNPACKED);
    return existsSync(path) ? path : this.staging.absoluteStagedPath;
  }

  private readManifest(): Manifest | undefined {
    const file = join(this.staging.absoluteStagedPath, MANIFEST);
    if (!Stack.of(this).bundlingRequired) return undefined;
    return parseManifest(readFileSync(file, 'utf8'));
  }

  private package(props: PackagedModelProps, directory: string): void {
    const target = join(directory, props.unpacked ? UNPACKED : ARCHIVE);
    trySamplesOnce(directory, props.samples ?? [], () => {
      const form = props.unpacked ? '--uncompressed' : '--out';
      this.runPackager(props, [form, target, ...sampleArguments(props)]);
    });
    if (props.unpacked) {
      copyFileSync(join(target, MANIFEST_PATH), join(directory, MANIFEST));
      return;
    }
    // Loaded here because a model that has not changed does not need it.
    const { extract } = require('tar') as typeof import('tar');
    extract({ file: target, cwd: directory, sync: true, strip: 1 }, [MANIFEST_PATH]);
  }

  /** An archive of an earlier synthesis has not been tried with samples that have changed since. */
  private tryNewSamples(props: PackagedModelProps): void {
    const { samples = [], unpacked } = props;
    if (samples.length === 0 || !Stack.of(this).bundlingRequired) return;
    const directory = this.staging.absoluteStagedPath;
    const packaged = unpacked ? this.unpackedPath : join(directory, ARCHIVE);
    trySamplesOnce(directory, samples, () => {
      this.runCommand(props, ['verify', packaged, ...sampleArguments(props)]);
    });
  }

  private runPackager(props: PackagedModelProps, target: readonly string[]): void {
    const args = ['package', resolve(props.model), ...target];
    if (props.handler) args.push('--handler', resolve(props.handler));
    if (props.preprocess) args.push('--preprocess', JSON.stringify(props.preprocess));
    if (props.postprocess) args.push('--postprocess', JSON.stringify(props.postprocess));
    this.runCommand(props, args);
  }

  private runCommand(props: PackagedModelProps, words: readonly string[]): void {
    const args = [COMMAND, '--quiet', ...words];
    const { status, stderr, error } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    if (status === 0) return;
    throw new ConstructError(
      'PACKAGING_FAILED',
      `${this.node.path}: packaging ${resolve(props.model)} failed. The command says:\n${(stderr || error?.message) ?? ''}`,
      { cause: error },
    );
  }
}

/** As JSON, which no path is taken for. */
function sampleArguments({ samples = [] }: PackagedModelProps): string[] {
  return samples.flatMap((sample) => [
    '--sample',
    JSON.stringify(typeof sample === 'string' ? { file: sample } : sample),
  ]);
}

/** A name that no other begins with: letters, digits, hyphens, and a digest at the end. */
function archiveName(name: string): string {
  const digest = shortDigest(name);
  const readable = name.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-/, '');
  return `${readable.slice(0, 64)}-${digest}`;
}
