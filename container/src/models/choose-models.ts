/** What is served of what was found: the default model, and labels of its versions. */
import { inPackagedOrder } from '@sagemaker-tfs/manifest/packaged-order';
import type { Environment } from '../environment.ts';
import { checkVariables } from './check-variables.ts';
import { defaultModelOf } from './default-model.ts';
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
  const { name: defaultModel } = defaultModelOf(found, environment);
  const { versionLabels: labels } = environment;
  const models = found.map((model) =>
    labels && model.name === defaultModel ? { ...model, labels } : model,
  );
  return { models, defaultModel };
}
