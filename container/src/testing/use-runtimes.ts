import { createModelDir, type ModelDirContents } from './model-dir.ts';
import { type RuntimeProcess, startRuntimeProcess } from './runtime-process.ts';

/**
 * Runtimes with models of their own. To be called where hooks can be.
 * @param end the hook that ends them. Default: after all tests of the file or block
 * @returns starts a runtime, and waits until it answers
 */
export function useRuntimes(
  end = afterAll,
): (
  contents: ModelDirContents,
  variables?: Record<string, string | undefined>,
) => Promise<RuntimeProcess> {
  const cleanups: (() => unknown)[] = [];
  end(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });
  return async (contents, variables = {}) => {
    const { directory, remove } = await createModelDir(contents);
    const runtime = await startRuntimeProcess({ SAGEMAKER_TFS_MODEL_DIR: directory, ...variables });
    cleanups.push(remove, () => runtime.end('SIGKILL'));
    await runtime.ready();
    return runtime;
  };
}
