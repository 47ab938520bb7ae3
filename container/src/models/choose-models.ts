/** What is served of what was found: the default model, and labels of its versions. */
import { inPackagedOrder } from '@sagemaker-tfs/manifest/packaged-order';
import type { Environment } from '../environment.ts';
import { StartError } from '../errors.ts';
import { checkVariables } from './check-variables.ts';
import { discoverModels } from './discover.ts';
import { readManifest } from './read-manifest.ts';
import type { ServedModel } from './served-model.ts';

/** The models of the model directory. The first is the default. @throws StartError MODELS_INVALID, ARCHIVE_INVALID, ENVIRONMENT_INVALID */
export async function chooseModels(
  environment: Environment,
): Promise<{ models: ServedModel[]; defaultModel: string }> {
  const { modelDir } = environment;
  const byPath = await discoverModels(modelDir);
  // One model is the default without a manifest, whose reader takes its time to load.
  const manifest = byPath.length > 1 ? await readManifest(modelDir) : undefined;
  const found = inPackagedOrder(byPath, manifest?.models);
  await checkVariables(found);
  const defaultModel = defaultModelOf(found, environment);
  const models = found.map((model) =>
    model.name === defaultModel ? labeled(model, environment.versionLabels) : model,
  );
  return { models, defaultModel };
}

function defaultModelOf(models: readonly ServedModel[], environment: Environment): string {
  const names = models.map(({ name }) => name);
  const { defaultModelName, modelDir } = environment;
  if (defaultModelName === undefined) return names[0] as string;
  if (names.includes(defaultModelName)) return defaultModelName;
  throw new StartError(
    'ENVIRONMENT_INVALID',
    `SAGEMAKER_TFS_DEFAULT_MODEL_NAME is "${defaultModelName}". The models in ${modelDir} are ${names.join(', ')}.`,
  );
}

function labeled(model: ServedModel, labels: Environment['versionLabels']): ServedModel {
  if (!labels) return model;
  for (const [label, version] of Object.entries(labels)) {
    if (model.versions.includes(version)) continue;
    throw new StartError(
      'ENVIRONMENT_INVALID',
      `SAGEMAKER_TFS_VERSION_LABELS assigns "${label}" to version ${version}. Model "${model.name}" has ${model.versions.join(', ')}.`,
    );
  }
  return { ...model, labels };
}
