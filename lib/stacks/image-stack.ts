/** The serving images of an environment. */
import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { ConstructError } from '../errors.ts';
import {
  type ImageArchitecture,
  type IServingImage,
  ServingImage,
  type ServingImageVariant,
} from '../serving-image.ts';

/** Props of {@link ImageStack}. */
export interface ImageStackProps extends StackProps {
  /** What to build for x86-64. */
  readonly variants: readonly ServingImageVariant[];
  /**
   * What to build for arm64 (Graviton); `in-process` is all that there is.
   * @default - none
   */
  readonly arm64Variants?: readonly ServingImageVariant[];
  /**
   * Build context of the image.
   * @default - this project's `container/`
   */
  readonly directory?: string;
  /**
   * Docker build arguments.
   * @default - none
   */
  readonly buildArgs?: Readonly<Record<string, string>>;
}

/**
 * Builds and pushes the images before the stacks that use them. Those refer to an image by its address,
 * not by a stack export, which could not change while it is in use.
 */
export class ImageStack extends Stack {
  private readonly images = new Map<string, IServingImage>();

  constructor(scope: Construct, id: string, props: ImageStackProps) {
    super(scope, id, props);
    for (const variant of props.variants) this.build(props, variant, 'x86_64');
    for (const variant of props.arm64Variants ?? []) this.build(props, variant, 'arm64');
  }

  private build(
    { directory, buildArgs }: ImageStackProps,
    variant: ServingImageVariant,
    architecture: ImageArchitecture,
  ): void {
    const name = nameOf(variant, architecture);
    const image = new ServingImage(this, `Image-${name}`, {
      variant,
      architecture,
      ...(directory && { directory }),
      ...(buildArgs && { buildArgs }),
    });
    this.images.set(name, image);
    // A stack needs a resource; this one tells other tools, by a name they can know, which image is current.
    new StringParameter(this, `Uri-${name}`, {
      parameterName: `/${this.stackName}/${name}`,
      description: `Serving image (${name})`,
      stringValue: image.imageUri,
    });
    new CfnOutput(this, `ImageUri-${name}`, {
      description: `Serving image (${name})`,
      value: image.imageUri,
    });
  }

  /** An image that was asked for. */
  image(variant: ServingImageVariant, architecture: ImageArchitecture = 'x86_64'): IServingImage {
    const name = nameOf(variant, architecture);
    const image = this.images.get(name);
    if (!image) {
      throw new ConstructError(
        'IMAGE_NOT_BUILT',
        `${this.node.path} builds no '${name}' image. Add '${variant}' to \`${architecture === 'arm64' ? 'arm64Variants' : 'variants'}\`.`,
      );
    }
    return image;
  }
}

function nameOf(variant: ServingImageVariant, architecture: ImageArchitecture): string {
  return architecture === 'arm64' ? `${variant}-arm64` : variant;
}
