import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningRuntime, startRuntime } from 'sagemaker-tfs/development/serving';
import { fixtureModel } from '../fixtures/index.ts';

/** A runtime of fixture models, and a folder that is removed with it. */
interface ServedFixtures {
  readonly url: string;
  /** Holds the models in `served`, by their names. */
  readonly folder: string;
}

/** Serves copies of fixture models for all tests of a file or block. To be called where hooks can be. */
export function useServedFixtures(names: readonly string[]): ServedFixtures {
  const folder = mkdtempSync(join(tmpdir(), 'served-fixtures-'));
  let runtime: RunningRuntime | undefined;
  beforeAll(async () => {
    const modelDirectory = join(folder, 'served');
    for (const name of names) {
      cpSync(fixtureModel(name).basePath, join(modelDirectory, name), { recursive: true });
    }
    runtime = await startRuntime({ modelDirectory, log: join(folder, 'runtime.log') });
  });
  afterAll(async () => {
    await runtime?.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    folder,
    get url() {
      if (!runtime) throw new Error('the runtime starts before the tests, not before their hooks');
      return runtime.url;
    },
  };
}
