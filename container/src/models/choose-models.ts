/** What is served of what was found: the default model, and labels of its versions. */
import type { Environment } from '../environment.ts';
import { StartError } from '../errors.ts';
import { checkVariables } from './check-variables.ts';
import { discoverModels } from './discover.ts';
import type { ServedModel } from './served-model.ts';

/** The models of the model directory. @throws StartError MODELS_INVALID, ENVIRONMENT_INVALID */
export async function chooseModels(
  environment: Environment,
): Promise<{ models: ServedModel[]; defaultModel: string }> {
  const found = await discoverModels(environment.modelDir);
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
