/** The default model of those that there are, and labels of its versions. */
import type { Environment } from '../environment.ts';
import { StartError } from '../errors.ts';

/** What is known of a model before it is served. */
interface NamedModel {
  readonly name: string;
  readonly versions: readonly string[];
}

/** What the environment says of the default model. */
type DefaultSettings = Pick<Environment, 'defaultModelName' | 'modelDir' | 'versionLabels'>;

/**
 * The model of requests that name none: the first, or the one that is set.
 * @throws StartError ENVIRONMENT_INVALID if no model has that name, or it lacks a version that has a label
 */
export function defaultModelOf<T extends NamedModel>(
  models: readonly T[],
  { defaultModelName, modelDir, versionLabels = {} }: DefaultSettings,
): T {
  const chosen =
    defaultModelName === undefined
      ? models[0]
      : models.find(({ name }) => name === defaultModelName);
  if (!chosen) {
    const names = models.map(({ name }) => name).join(', ');
    throw new StartError(
      'ENVIRONMENT_INVALID',
      `SAGEMAKER_TFS_DEFAULT_MODEL_NAME is "${defaultModelName}". The models in ${modelDir} are ${names}.`,
    );
  }
  for (const [label, version] of Object.entries(versionLabels)) {
    if (chosen.versions.includes(version)) continue;
    throw new StartError(
      'ENVIRONMENT_INVALID',
      `SAGEMAKER_TFS_VERSION_LABELS assigns "${label}" to version ${version}. Model "${chosen.name}" has ${chosen.versions.join(', ')}.`,
    );
  }
  return chosen;
}
