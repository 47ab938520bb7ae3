/** The build context of an image with model and handler inside, for users who serve it elsewhere. */
import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BAKED_LAYER, type Manifest } from '@sagemaker-tfs/manifest';
import { layOut, requireEmpty } from '../archive/lay-out.ts';
import { PackagingError } from '../errors.ts';
import { outputFailed, outputFolder } from '../files/output.ts';
import type { ContentOptions } from '../plan/content.ts';

/** What the image is built from. */
export interface BakedImageOptions extends ContentOptions {
  /** Directory for the build context; missing or empty. */
  readonly out: string;
  /** Name of the serving image. */
  readonly baseImage: string;
  /**
   * Also serve TensorFlow Serving's own gRPC (8500) and REST (8501). They have no authentication: for
   * private networks only. Default: false.
   */
  readonly exposeModelServer?: boolean;
  /** Called with the path of the laid-out model. Where it rejects, nothing appears. */
  readonly check?: (model: string) => Promise<void>;
}

/** A build context. */
export interface BakedImageResult {
  /** Absolute path, for `docker build`. */
  readonly directory: string;
  readonly manifest: Manifest | undefined;
}

/** A reference to an image: registry, path, tag, digest. No white space, so that it stays one word. */
const IMAGE_REFERENCE = /^[\w][\w.:/@-]*$/;

/**
 * Writes `Dockerfile` and `model/` so that `docker build` makes an image that serves the model without
 * `model.tar.gz`: on SageMaker without model data, on ECS, Kubernetes or with `docker run -p 8080:8080`.
 * @throws PackagingError as `packageModel`; the directory appears only when it is complete
 */
export async function writeBakedImage(options: BakedImageOptions): Promise<BakedImageResult> {
  const { baseImage, out, exposeModelServer = false } = options;
  if (!IMAGE_REFERENCE.test(baseImage)) {
    throw new PackagingError(
      'BAD_OPTION',
      `'${baseImage}' is not the name of an image. Write it like registry/name:tag.`,
    );
  }
  const directory = await outputFolder(out);
  await requireEmpty(directory);
  const temporary = `${directory}.${randomBytes(4).toString('hex')}.partial`;
  try {
    await mkdir(temporary, { recursive: true }).catch(outputFailed(directory));
    const { manifest } = await layOut(options, join(temporary, 'model'), options);
    const dockerfile = dockerfileText(baseImage, exposeModelServer);
    await writeFile(join(temporary, 'Dockerfile'), dockerfile).catch(outputFailed(directory));
    await rm(directory, { recursive: true, force: true });
    await rename(temporary, directory).catch(outputFailed(directory));
    return { directory, manifest };
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
}

function dockerfileText(baseImage: string, exposeModelServer: boolean): string {
  const modelServer = exposeModelServer
    ? [
        '# TensorFlow Serving itself: gRPC on 8500, REST on 8501. No authentication: private networks only.',
        'ENV SAGEMAKER_SAFE_PORT_RANGE=8500-8501',
        'EXPOSE 8500 8501',
      ]
    : [];
  return [
    '# Build: docker build -t my-model .    Run: docker run -p 8080:8080 my-model',
    `ARG BASE_IMAGE=${baseImage}`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Docker's own syntax
    'FROM ${BASE_IMAGE}',
    ...BAKED_LAYER,
    'EXPOSE 8080',
    ...modelServer,
    '',
  ].join('\n');
}
