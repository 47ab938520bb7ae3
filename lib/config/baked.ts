/** Models that the image holds. */
import { type Sources, sourcesOf } from './sources.ts';

interface Configuration {
  readonly models: Readonly<Record<string, Sources>>;
  readonly image: object;
  readonly environments?: readonly { readonly image?: object | undefined }[] | undefined;
}

/** Models in images that cannot be built, or that do not hold them. */
export function bakedProblems({ models, image, environments = [{}] }: Configuration) {
  const images = environments.map((one) => one.image ?? image);
  const existing = images.filter((one) => 'uri' in one);
  // Beside another source `baked` is refused as such.
  const baked = Object.entries(models).filter(
    ([, config]) =>
      config.baked && sourcesOf(config).every((name) => name === 'model' || name === 'baked'),
  );
  const [first] = baked.filter(([, { model }]) => model === undefined);
  return baked.flatMap(([model, config]) => {
    const problem = (message: string) => [{ model, field: 'baked', message }];
    if (config.environment && 'SAGEMAKER_TFS_MODEL_DIR' in config.environment && config.model) {
      return problem('the image sets SAGEMAKER_TFS_MODEL_DIR. Leave it out of environment');
    }
    if (config.model !== undefined) {
      if (existing.length === 0) return [];
      return problem(
        `an image with 'uri' is not built here, so no model comes into it. Leave 'model' out if it holds this one, or 'uri'`,
      );
    }
    if (existing.length < images.length) {
      return problem(
        `without a 'model', the image is one that holds it. Give its address, image: { uri }, in every environment`,
      );
    }
    if (first && first[0] !== model) {
      return problem(
        `the image is that of models.${first[0]}, too, and holds one model. Use a configuration for each`,
      );
    }
    return [];
  });
}
