/** TensorFlow's variable for the memory of its operations on CPUs, set where a request could make oneDNN wait for memory. */
import type { Environment } from '../environment.ts';
import { discoverModels } from './discover.ts';
import type { ServedModel } from './served-model.ts';
import { versionDirectories } from './version-directories.ts';

/**
 * oneDNN's own allocator waits ten seconds for memory that there is not, and all that allocate or free wait with it
 * (common_runtime/bfc_allocator.cc, kMaxMillisToWait in AllocateRaw). The system's refuses at once; it is read as the library
 * loads (common_runtime/mkl_cpu_allocator.h, UseSystemAlloc).
 */
const SYSTEM_ALLOCATOR = 'TF_ONEDNN_USE_SYSTEM_ALLOCATOR';

/** What decides. */
export interface AllocatorOptions {
  readonly environment: Environment;
  /** What is handed on; a value of its own is kept. */
  readonly variables: NodeJS.ProcessEnv;
  /** Default: those of the model directory. */
  readonly models?: readonly ServedModel[] | undefined;
  /** Hears, in one line, that it is set and why. */
  readonly tell: (message: string) => void;
}

/** Empty where oneDNN's allocator may stay. Never rejects: of a graph that cannot be read, any value may set a size. */
export async function allocatorVariables({
  environment,
  variables,
  models,
  tell,
}: AllocatorOptions): Promise<Record<string, string>> {
  if (variables[SYSTEM_ALLOCATOR] !== undefined || isOneDnnOff(environment, variables)) return {};
  const reason = environment.multiModel
    ? 'models come later, and may let values of requests set sizes'
    : await reasonOf(models ?? (await discoverModels(environment.modelDir).catch(() => [])));
  if (reason === undefined) return {};
  tell(`${SYSTEM_ALLOCATOR}=true is set: ${reason}`);
  return { [SYSTEM_ALLOCATOR]: 'true' };
}

function isOneDnnOff(
  { modelServer: { graph } }: Environment,
  { TF_ENABLE_ONEDNN_OPTS }: NodeJS.ProcessEnv,
): boolean {
  if (graph.oneDnn !== undefined || graph.mixedPrecision === 'bfloat16') {
    return graph.oneDnn === false;
  }
  return /^(?:0|false)$/i.test(TF_ENABLE_ONEDNN_OPTS?.trim() ?? '');
}

async function reasonOf(models: readonly ServedModel[]): Promise<string | undefined> {
  const { valueSizesInTurns } = await import('@sagemaker-tfs/libtensorflow/graph');
  for (const model of models) {
    for (const { path } of await versionDirectories(model).catch(() => [])) {
      const reason = await valueSizesInTurns(path).then(
        (sizes) => {
          const [size] = sizes.values();
          if (!size) return undefined;
          const node = `node "${size.node.slice(0, MAX_NAME)}" (${size.op.slice(0, MAX_NAME)})`;
          return size.isKnown
            ? `in model "${model.name}" values of a request set the size of what ${node} makes`
            : `in model "${model.name}" ${node} gets values of a request, and may make tensors of any size`;
        },
        () => `the graph of model "${model.name}" cannot be read here`,
      );
      if (reason !== undefined) return reason;
    }
  }
  return undefined;
}

/** Names are as long as whoever exports a model makes them. */
const MAX_NAME = 200;
