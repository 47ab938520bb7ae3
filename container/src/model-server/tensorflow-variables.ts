/** The variables that TensorFlow itself reads, in TensorFlow Serving and in the runtime's own process alike. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../environment.ts';
import { hasGpu } from './gpu.ts';

/**
 * oneDNN's own allocator waits ten seconds for memory that there is not, and all that allocate or free wait with it
 * (common_runtime/bfc_allocator.cc, kMaxMillisToWait in AllocateRaw). The system's refuses at once. Read as the library loads
 * (common_runtime/mkl_cpu_allocator.h, UseSystemAlloc).
 */
const SYSTEM_ALLOCATOR = 'TF_ONEDNN_USE_SYSTEM_ALLOCATOR';

/** Clusters everything that XLA can compile (tensorflow/compiler/jit/flags.cc), on CPUs as well. */
const XLA_FLAGS = ['--tf_xla_auto_jit=2', '--tf_xla_cpu_global_jit'];

/**
 * @param variables the environment handed on, whose own TF_XLA_FLAGS are kept
 * @param gpu whether this machine has one
 */
export function tensorFlowVariables(
  { modelServer }: Environment,
  variables: NodeJS.ProcessEnv,
  gpu = hasGpu(),
): Record<string, string> {
  const { gpuAllowGrowth, xla, mixedPrecision } = modelServer.graph;
  // Computed by oneDNN, which TensorFlow itself turns on for newer processors only.
  const oneDnn = modelServer.graph.oneDnn ?? (mixedPrecision === 'bfloat16' || undefined);
  return {
    OMP_NUM_THREADS: modelServer.ompThreads,
    // Newer GPUs than TensorFlow was built for compile its kernels; without a home the driver forgets them.
    ...(gpu && {
      CUDA_CACHE_PATH: variables.CUDA_CACHE_PATH ?? join(tmpdir(), 'cuda-cache'),
    }),
    ...(gpuAllowGrowth && { TF_FORCE_GPU_ALLOW_GROWTH: 'true' }),
    ...(xla && { TF_XLA_FLAGS: withXla(variables.TF_XLA_FLAGS) }),
    ...(oneDnn !== undefined && { TF_ENABLE_ONEDNN_OPTS: oneDnn ? '1' : '0' }),
    // The inputs of a batch are one owner's, and oneDNN's own is faster for large tensors.
    ...(variables.SAGEMAKER_BATCH !== 'true' && {
      [SYSTEM_ALLOCATOR]: variables[SYSTEM_ALLOCATOR] ?? 'true',
    }),
  };
}

/** A flag that is given already stays as it is. */
function withXla(given = ''): string {
  const flags = given.split(/\s+/).filter(Boolean);
  const names = new Set(flags.map(nameOf));
  return [...flags, ...XLA_FLAGS.filter((flag) => !names.has(nameOf(flag)))].join(' ');
}

function nameOf(flag: string): string {
  return flag.replace(/=.*$/s, '');
}
