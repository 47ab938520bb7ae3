/** The models of an endpoint's variants: one for all that serve the same. */
import { Construct } from 'constructs';
import type { PlannedVariant } from '../endpoint-variants.ts';
import type { IModel } from '../model.ts';
import type { IServingImage } from '../serving-image.ts';
import type { VpcAttachmentProps } from '../vpc-attachment.ts';
import { modelFromConfig } from './model-from-config.ts';

/** What models are made from, beside their configuration. */
interface ModelsAround {
  readonly imageOf: (variant: PlannedVariant) => IServingImage;
  readonly network: VpcAttachmentProps;
  /** See `FromDirectoryOptions`. */
  readonly archiveName: string | undefined;
}

/** Id of the construct that holds a variant's own model. */
export const variantId = (name = '') => `Variant-${name}`;

/** A model for each variant, in their order. The configuration's own model has the id that it has alone. */
export function modelsOfVariants(
  scope: Construct,
  variants: readonly PlannedVariant[],
  { imageOf, network, archiveName }: ModelsAround,
): IModel[] {
  const made: { model: IModel; image: IServingImage; variant: PlannedVariant }[] = [];
  return variants.map((variant) => {
    const image = imageOf(variant);
    const same = made.find((one) => one.image === image && hasSameModel(one.variant, variant));
    if (same) return same.model;
    const { name = '', hasOwnModel } = variant;
    const isFirst = !hasOwnModel && made.every((one) => one.variant.hasOwnModel);
    const place = isFirst ? scope : new Construct(scope, variantId(name));
    const archives =
      hasOwnModel && archiveName !== undefined ? `${archiveName}/${name}` : archiveName;
    const model = modelFromConfig(place, variant.model, image, network, archives);
    made.push({ model, image, variant });
    return model;
  });
}

function hasSameModel(one: PlannedVariant, other: PlannedVariant): boolean {
  return !one.hasOwnModel && !other.hasOwnModel;
}
