/** The image that serves: built from `container/` by the CDK, or one that is in ECR already. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseEcrImage } from '@sagemaker-tfs/batch';
import { DEFAULT_BASE, DEFAULT_RELEASE, releaseOfImage } from '@sagemaker-tfs/container/releases';
import type { IRepository } from 'aws-cdk-lib/aws-ecr';
import { DockerImageAsset, type DockerImageAssetProps, Platform } from 'aws-cdk-lib/aws-ecr-assets';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import { Annotations, Arn, Aws, IgnoreMode, Token } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { containerDirectory } from 'sagemaker-tfs/files';
import type { ImagePlatform } from './image-platform.ts';
import { isForGpus, isInProcess, type ServingImageVariant } from './image-variant.ts';
import { invalidProp } from './validation.ts';

export type { ServingImageVariant };

/** Processors that images are built for. */
export type ImageArchitecture = ImagePlatform['architecture'];

/** An image that serves TensorFlow models on SageMaker. */
export interface IServingImage {
  /** `ACCOUNT.dkr.ecr.REGION.amazonaws.com/REPOSITORY:TAG`. */
  readonly imageUri: string;
  readonly variant: ServingImageVariant;
  readonly platform: ImagePlatform;
  /** Lets a role pull this image, and no other. */
  grantPull(grantee: IGrantable): Grant;
}

/** How an image is built. */
export interface ImageBuild extends Pick<DockerImageAssetProps, 'buildArgs' | 'outputs'> {
  /** Build context. */
  readonly directory: string;
  /** Stage of its Dockerfile. */
  readonly target: string;
  readonly platform: Platform;
  /** Patterns of what is no part of the context. */
  readonly exclude: readonly string[];
}

/** Facts about an image that is not built here. */
export interface ExistingImageProps {
  /**
   * What the image holds.
   * @default 'cpu'
   */
  readonly variant?: ServingImageVariant;
  /**
   * CUDA version of an image for GPUs, `12.5`. It decides the driver that instances are started with.
   * @default - {@link TENSORFLOW_SERVING_CUDA} for `gpu`, {@link IN_PROCESS_CUDA} for `in-process-gpu`
   */
  readonly cuda?: string;
  /** @default 'x86_64' */
  readonly architecture?: ImageArchitecture;
}

/** Props of {@link ServingImage}. */
export interface ServingImageProps {
  /**
   * What the image holds.
   * @default 'cpu'
   */
  readonly variant?: ServingImageVariant;
  /**
   * Build context with a `Dockerfile` and the bundled runtime in `dist/`.
   * @default - the one inside the package `sagemaker-tfs`
   */
  readonly directory?: string;
  /**
   * CUDA version of an image for GPUs.
   * @default - {@link IN_PROCESS_CUDA} for `in-process-gpu`; for `gpu` by the table of releases if `buildArgs.TFS_BASE` names one, else {@link TENSORFLOW_SERVING_CUDA}
   */
  readonly cuda?: string;
  /**
   * Docker build arguments, for example a base image in a private registry.
   * @default - none
   */
  readonly buildArgs?: Readonly<Record<string, string>>;
  /**
   * Processor that the image is for. `arm64` (Graviton) takes `in-process`: TensorFlow Serving is published for
   * x86-64 alone.
   * @default 'x86_64'
   */
  readonly architecture?: ImageArchitecture;
}

/** CUDA of the GPU image of the default release (`container/image/tensorflow-serving.json`; 2.19 has 12.2). */
export const TENSORFLOW_SERVING_CUDA = DEFAULT_RELEASE.cuda;

/** CUDA of the `in-process-gpu` image (`container/image/tensorflow-gpu.txt`). */
export const IN_PROCESS_CUDA = '12.5';

/** Base of the `gpu` image. */
const GPU_BASE = `${DEFAULT_BASE}-gpu`;

/** Build arguments of a variant. */
const BUILD_ARGS: Readonly<Partial<Record<ServingImageVariant, Record<string, string>>>> = {
  gpu: { TFS_BASE: GPU_BASE },
  'in-process-gpu': { ACCELERATOR: 'gpu' },
};

/** What is known of an image without its address. */
export function imageFacts(props: ExistingImageProps): Pick<IServingImage, 'variant' | 'platform'> {
  const variant = props.variant ?? 'cpu';
  return { variant, platform: platformOf(variant, props) };
}

function platformOf(
  variant: ServingImageVariant,
  { cuda, architecture = 'x86_64' }: ExistingImageProps,
): ImagePlatform {
  if (!isForGpus(variant)) {
    if (cuda) {
      invalidProp(
        'image',
        'cuda',
        `'${cuda}' is given for a '${variant}' image`,
        `Leave 'cuda' out, or set variant: 'gpu' or 'in-process-gpu'`,
      );
    }
    return { accelerator: 'cpu', architecture };
  }
  const own = isInProcess(variant) ? IN_PROCESS_CUDA : TENSORFLOW_SERVING_CUDA;
  return { accelerator: 'gpu', cuda: cuda ?? own, architecture };
}

/**
 * The serving image as a CDK asset: built when a stack that uses it is deployed, and again only when
 * its files change.
 */
export class ServingImage extends Construct implements IServingImage {
  /** An image in an ECR repository. */
  static fromEcrRepository(
    repository: IRepository,
    tagOrDigest: string,
    props: ExistingImageProps = {},
  ): IServingImage {
    return {
      ...imageFacts(props),
      imageUri: repository.repositoryUriForTagOrDigest(tagOrDigest),
      grantPull: (grantee) => repository.grantPull(grantee),
    };
  }

  /**
   * An image by its ECR address, in any account or region.
   * @param imageUri `ACCOUNT.dkr.ecr.REGION.amazonaws.com/REPOSITORY`, with `:TAG` or `@sha256:DIGEST`
   */
  static fromUri(imageUri: string, props: ExistingImageProps = {}): IServingImage {
    return {
      ...imageFacts(props),
      imageUri,
      grantPull: (grantee) => grantPullByUri(grantee, imageUri),
    };
  }

  readonly imageUri: string;
  readonly variant: ServingImageVariant;
  readonly platform: ImagePlatform;
  private readonly asset: DockerImageAsset;
  /** For {@link BakedImage}. */
  readonly build: ImageBuild;

  constructor(scope: Construct, id: string, props: ServingImageProps = {}) {
    super(scope, id);
    this.variant = props.variant ?? 'cpu';
    const release = isInProcess(this.variant) ? undefined : baseRelease(this, props);
    const cuda = props.cuda ?? (this.variant === 'gpu' ? release?.cuda : undefined);
    this.platform = platformOf(this.variant, { ...props, ...(cuda && { cuda }) });
    const arm64 = this.platform.architecture === 'arm64';
    if (arm64 && this.variant !== 'in-process') {
      const held = isInProcess(this.variant)
        ? "TensorFlow's library for GPUs"
        : 'TensorFlow Serving';
      const problem = `${held}, which a '${this.variant}' image holds, is published for x86-64 alone`;
      invalidProp(
        this,
        'architecture',
        problem,
        `Set variant: 'in-process', or leave 'architecture' out`,
      );
    }
    const directory = props.directory ?? containerDirectory();
    if (!existsSync(join(directory, 'dist', 'main.js'))) {
      const problem = `${resolve(directory)} holds no dist/main.js, the bundled runtime`;
      invalidProp(this, 'directory', problem, `Run 'npm run build' first`);
    }
    this.build = {
      directory,
      target: isInProcess(this.variant) ? 'in-process' : 'model-server',
      platform: arm64 ? Platform.LINUX_ARM64 : Platform.LINUX_AMD64,
      ...(builtByDocker() && { outputs: ['type=docker'] }),
      buildArgs: { ...BUILD_ARGS[this.variant], ...props.buildArgs },
      // What the Dockerfile copies, so that nothing else changes the image's hash.
      exclude: ['**', '!Dockerfile', '!image/**', '!dist/**', 'dist/*.map'],
    };
    const { exclude, ...docker } = this.build;
    this.asset = new DockerImageAsset(this, 'Asset', {
      ...docker,
      ignoreMode: IgnoreMode.DOCKER,
      exclude: [...exclude],
    });
    this.imageUri = this.asset.imageUri;
    warnOfOciManifest(this);
  }

  grantPull(grantee: IGrantable): Grant {
    return this.asset.repository.grantPull(grantee);
  }
}

/** The release of the base, if its tag says so. */
function baseRelease(where: Construct, { buildArgs }: ServingImageProps) {
  const { TFS_BASE: base } = buildArgs ?? {};
  if (base === undefined || Token.isUnresolved(base)) return undefined;
  const release = releaseOfImage(base);
  if (release && !release.runs) {
    const problem = `'${base}' stands on ${release.base}, where the runtime's Node does not start`;
    invalidProp(
      where,
      'buildArgs.TFS_BASE',
      problem,
      `Take a newer one, such as '${DEFAULT_BASE}'`,
    );
  }
  return release;
}

/**
 * Whether `docker` itself builds the image. Its newer stores would write an OCI manifest, which CreateModel is
 * reported to refuse, unless asked for Docker's own; podman and buildah take BUILDAH_FORMAT=docker instead. The
 * CDK already turns attestations off.
 * @see https://github.com/aws/amazon-sagemaker-feedback/issues/180
 */
function builtByDocker(): boolean {
  const { CDK_DOCKER = 'docker' } = process.env;
  return CDK_DOCKER === 'docker';
}

/** Podman and buildah write OCI manifests unless their environment asks for Docker's, which only the caller can set. */
function warnOfOciManifest(scope: Construct): void {
  const { CDK_DOCKER = '', BUILDAH_FORMAT } = process.env;
  if (!/(^|\/)(podman|buildah)$/.test(CDK_DOCKER) || BUILDAH_FORMAT === 'docker') return;
  Annotations.of(scope).addWarningV2(
    '@sagemaker-tfs/cdk:ociManifest',
    `CDK_DOCKER: ${CDK_DOCKER} pushes images with OCI manifests, which CreateModel is reported to refuse (https://github.com/aws/amazon-sagemaker-feedback/issues/180). Set BUILDAH_FORMAT=docker beside it.`,
  );
}

function grantPullByUri(grantee: IGrantable, imageUri: string): Grant {
  const image = parseEcrImage(imageUri);
  if (!image?.tag && !image?.digest) {
    const problem = Token.isUnresolved(imageUri)
      ? 'the address is known only at deployment, so its repository cannot be named in a policy'
      : `'${imageUri}' is not an ECR address with a tag or digest`;
    invalidProp(
      'image',
      'uri',
      problem,
      'Push the image to ECR, and use ACCOUNT.dkr.ecr.REGION.amazonaws.com/REPOSITORY:TAG or fromEcrRepository',
    );
  }
  const { account, region, repository } = image;
  Grant.addToPrincipal({
    grantee,
    actions: ['ecr:GetAuthorizationToken'],
    resourceArns: ['*'],
  });
  return Grant.addToPrincipal({
    grantee,
    actions: ['ecr:BatchCheckLayerAvailability', 'ecr:GetDownloadUrlForLayer', 'ecr:BatchGetImage'],
    resourceArns: [
      Arn.format({
        partition: Aws.PARTITION,
        service: 'ecr',
        account,
        region,
        resource: 'repository',
        resourceName: repository,
      }),
    ],
  });
}
