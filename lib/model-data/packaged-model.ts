/** A model packaged during synthesis: the archive as a CDK asset, and the manifest that tells what is in it. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { MANIFEST_PATH, type Manifest, manifestSchema } from '@sagemaker-tfs/manifest';
import { type AssetStaging, FileAssetPackaging, Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { commandFile } from 'sagemaker-tfs/files';
import { ConstructError } from '../errors.ts';
import { stagedDirectory } from '../hashing/staged-directory.ts';
import { hashSources, type ModelSample, type ModelSources } from './inputs.ts';

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

  constructor(scope: Construct, id: string, props: PackagedModelProps) {
    super(scope, id);
    const assetHash = hashSources(this, props);
    this.staging = stagedDirectory(this, 'Staging', {
      sourcePath: props.model,
      assetHash: props.unpacked ? `${assetHash}-unpacked` : assetHash,
      write: (directory) => this.package(props, directory),
    });
    this.assetHash = this.staging.assetHash;
    this.manifest = this.readManifest();
    this.fingerprint = this.manifest?.fingerprint ?? assetHash;
  }

  /** Path of the staged `model.tar.gz`, relative to the cloud assembly of `stack`. */
  private archivePath(stack: Stack): string {
    return join(this.staging.relativeStagedPath(stack), ARCHIVE);
  }

  /** Uploads `model.tar.gz`, under a key that ends so: SageMaker asks for that suffix. */
  uploadArchive() {
    const stack = Stack.of(this);
    return stack.synthesizer.addFileAsset({
      // The synthesizer adds only the last extension.
      sourceHash: `${this.assetHash}.tar`,
      fileName: this.archivePath(stack),
      packaging: FileAssetPackaging.FILE,
      displayName: this.node.path,
    });
  }

  /** Directory with the archive's files as they are; only with `unpacked`. */
  get unpackedPath(): string {
    const path = join(this.staging.absoluteStagedPath, UNPACKED);
    return existsSync(path) ? path : this.staging.absoluteStagedPath;
  }

  private readManifest(): Manifest | undefined {
    const file = join(this.staging.absoluteStagedPath, MANIFEST);
    if (!Stack.of(this).bundlingRequired) return undefined;
    return manifestSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  }

  private package(props: PackagedModelProps, directory: string): void {
    if (props.unpacked) {
      const target = join(directory, UNPACKED);
      this.runPackager(props, ['--uncompressed', target]);
      copyFileSync(join(target, MANIFEST_PATH), join(directory, MANIFEST));
      return;
    }
    const archive = join(directory, ARCHIVE);
    const samples = (props.samples ?? []).flatMap((sample) => ['--sample', asArgument(sample)]);
    this.runPackager(props, ['--out', archive, ...samples]);
    // Loaded here because a model that has not changed does not need it.
    const { extract } = require('tar') as typeof import('tar');
    extract({ file: archive, cwd: directory, sync: true, strip: 1 }, [MANIFEST_PATH]);
  }

  private runPackager(props: PackagedModelProps, target: readonly string[]): void {
    const args = [COMMAND, '--quiet', 'package', resolve(props.model), ...target];
    if (props.handler) args.push('--handler', resolve(props.handler));
    if (props.preprocess) args.push('--preprocess', JSON.stringify(props.preprocess));
    if (props.postprocess) args.push('--postprocess', JSON.stringify(props.postprocess));
    const { status, stderr, error } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    if (status === 0) return;
    throw new ConstructError(
      'PACKAGING_FAILED',
      `${this.node.path}: packaging ${resolve(props.model)} failed:\n${(stderr || error?.message) ?? ''}`,
      { cause: error },
    );
  }
}

/** JSON, which no path is taken for. */
function asArgument(sample: string | ModelSample): string {
  return JSON.stringify(typeof sample === 'string' ? { file: sample } : sample);
}
