import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { type RunningRuntime, startRuntime } from 'sagemaker-tfs/development/serving';
import { fixtureModel } from '../fixtures/index.ts';

/** Serves copies of fixture models, in `folder/served` by their names. */
export function serveFixtures(folder: string, names: readonly string[]): Promise<RunningRuntime> {
  const modelDirectory = join(folder, 'served');
  for (const name of names) {
    cpSync(fixtureModel(name).basePath, join(modelDirectory, name), { recursive: true });
  }
  return startRuntime({ modelDirectory, log: join(folder, 'runtime.log') });
}
