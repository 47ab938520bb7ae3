/** The serving images of an environment. */
import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { ConstructError } from '../errors.ts';
import { type IServingImage, ServingImage, type ServingImageVariant } from '../serving-image.ts';

/** Props of {@link ImageStack}. */
export interface ImageStackProps extends StackProps {
  /** What to build. */
  readonly variants: readonly ServingImageVariant[];
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
  private readonly images = new Map<ServingImageVariant, IServingImage>();

  constructor(scope: Construct, id: string, props: ImageStackProps) {
    super(scope, id, props);
    for (const variant of props.variants) {
      const image = new ServingImage(this, `Image-${variant}`, {
        variant,
        ...(props.directory && { directory: props.directory }),
        ...(props.buildArgs && { buildArgs: props.buildArgs }),
      });
      this.images.set(variant, image);
      // A stack needs a resource; this one tells other tools, by a name they can know, which image is current.
      new StringParameter(this, `Uri-${variant}`, {
        parameterName: `/${this.stackName}/${variant}`,
        description: `Serving image (${variant})`,
        stringValue: image.imageUri,
      });
      new CfnOutput(this, `ImageUri-${variant}`, {
        description: `Serving image (${variant})`,
        value: image.imageUri,
      });
    }
  }

  /** An image that was asked for. */
  image(variant: ServingImageVariant): IServingImage {
    const image = this.images.get(variant);
    if (!image) {
      throw new ConstructError(
        'IMAGE_NOT_BUILT',
        `${this.node.path} builds no '${variant}' image. Add it to \`variants\`.`,
      );
    }
    return image;
  }
}
