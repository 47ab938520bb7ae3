/** A serving image with one model inside: nothing is downloaded when an instance starts. */
import { createHash } from 'node:crypto';
import { constants, cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BAKED_LAYER } from '@sagemaker-tfs/manifest';
import { DockerImageAsset } from 'aws-cdk-lib/aws-ecr-assets';
import type { Grant, IGrantable } from 'aws-cdk-lib/aws-iam';
import { FileSystem, IgnoreMode, Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { stagedDirectory } from './hashing/staged-directory.ts';
import type { ImagePlatform } from './image-platform.ts';
import type { ServingImageVariant } from './image-variant.ts';
import type { ModelSources } from './model-data/inputs.ts';
import { ModelData } from './model-data/model-data.ts';
import { PackagedModel } from './model-data/packaged-model.ts';
import type { ImageBuild, IServingImage, ServingImage } from './serving-image.ts';

/** Props of {@link BakedImage}. */
export interface BakedImageProps extends ModelSources {
  /** The image below: with its runtime and, if it has one, TensorFlow Serving. */
  readonly image: ServingImage;
}

/**
 * A serving image with a model as its last layer: instances download no `model.tar.gz`. For a `TensorFlowModel` it is both
 * `image` and, with its own `modelData`, the model.
 */
export class BakedImage extends Construct implements IServingImage {
  readonly imageUri: string;
  readonly variant: ServingImageVariant;
  readonly platform: ImagePlatform;
  /** For `TensorFlowModel.modelData`. */
  readonly modelData: ModelData;
  private readonly asset: DockerImageAsset;

  constructor(scope: Construct, id: string, { image, ...model }: BakedImageProps) {
    super(scope, id);
    this.variant = image.variant;
    this.platform = image.platform;
    const packaged = new PackagedModel(this, 'Package', { ...model, unpacked: true });
    const context = contextOf(this, model, packaged, image.build);
    const { directory, target, exclude, ...docker } = image.build;
    this.asset = new DockerImageAsset(this, 'Asset', {
      ...docker,
      directory: context,
      target: context === directory ? target : 'baked',
      ignoreMode: IgnoreMode.DOCKER,
      exclude: [...exclude, '!model/**'],
    });
    this.imageUri = this.asset.imageUri;
    this.modelData = ModelData.inImage({
      fingerprint: packaged.fingerprint,
      ...(packaged.manifest && { manifest: packaged.manifest }),
    });
  }

  grantPull(grantee: IGrantable): Grant {
    return this.asset.repository.grantPull(grantee);
  }
}

/** The build context. While the CDK skips bundling, that of the image below: this stack is not deployed. */
function contextOf(
  scope: Construct,
  { model }: ModelSources,
  packaged: PackagedModel,
  { directory, target, exclude }: ImageBuild,
): string {
  if (!Stack.of(scope).bundlingRequired) return directory;
  const below = FileSystem.fingerprint(directory, {
    exclude: [...exclude],
    ignoreMode: IgnoreMode.DOCKER,
  });
  const assetHash = createHash('sha256')
    .update(`${below} ${target} ${packaged.assetHash}`)
    .digest('hex');
  return stagedDirectory(scope, 'Context', {
    sourcePath: model,
    assetHash,
    write: (out) => {
      for (const path of ['image', 'dist'].filter((name) => existsSync(join(directory, name)))) {
        copy(join(directory, path), join(out, path));
      }
      copy(packaged.unpackedPath, join(out, 'model'));
      const text = readFileSync(join(directory, 'Dockerfile'), 'utf8');
      writeFileSync(join(out, 'Dockerfile'), `${text}\n${stageText(target)}`);
    },
  }).absoluteStagedPath;
}

/** Shares the bytes where the file system can: models are large. */
function copy(from: string, to: string): void {
  cpSync(from, to, { recursive: true, dereference: true, mode: constants.COPYFILE_FICLONE });
}

/** The last layer, so that all layers below it are those of the image without a model. */
function stageText(target: string): string {
  return `${[`FROM ${target} AS baked`, ...BAKED_LAYER].join('\n')}\n`;
}
