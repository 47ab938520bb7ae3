/** Options of a session as TensorFlow's ConfigProto. */
import { clone, create, toBinary } from '@bufbuild/protobuf';
import {
  type ConfigProto,
  ConfigProtoSchema,
  GPUOptionsSchema,
  GraphOptionsSchema,
  OptimizerOptions_GlobalJitLevel,
  OptimizerOptionsSchema,
  RewriterConfig_Toggle,
  RewriterConfigSchema,
  ThreadPoolOptionProtoSchema,
} from '@sagemaker-tfs/tensors/protos';
import { RUNS_AT_A_TIME } from './run-queue.ts';

/** How TensorFlow runs the model. Left out: TensorFlow's own default. */
export interface SessionConfig {
  /**
   * Threads that run independent operations of one model side by side. Shared by all sessions of the
   * process; the first session decides. TensorFlow's default: one for each processor. -1: no thread of their
   * own, they run in the calling one, which costs a small graph less.
   */
  readonly interOpThreads?: number;
  /** Threads inside one operation. Shared and defaulted as `interOpThreads`. */
  readonly intraOpThreads?: number;
  /** Part of each GPU's memory to take, 0-1. Only a library built for GPUs heeds it. Default: nearly all. */
  readonly gpuMemoryFraction?: number;
  /** Take a GPU's memory piece by piece, as runs need it, not at once. Default: false. */
  readonly gpuAllowGrowth?: boolean;
  /** Compile parts of the graph with XLA, on the processor too. Default: false. */
  readonly jit?: boolean;
  /** Default: the types of the model. */
  readonly mixedPrecision?: MixedPrecision;
  /** What the other options are laid over. Default: nothing. */
  readonly base?: ConfigProto;
}

/**
 * The 16 bits that TensorFlow computes in where the result bears it: `bfloat16` on processors, by oneDNN;
 * `float16` on GPUs. Where the other kind of device runs the graph, nothing changes.
 */
export type MixedPrecision = 'bfloat16' | 'float16';

/**
 * Name of the threads, one pool for all sessions, in which runs with a deadline are computed: the calling thread must be
 * free to watch the time. All other runs of {@link IN_CALLING_THREAD} are in that one.
 */
const TIMED_RUNS = 'timed_runs';

/** `interOpThreads` that has operations run in the calling thread. */
export const IN_CALLING_THREAD = -1;

/** The serialized ConfigProto (tensorflow/core/protobuf/config.proto). */
export function configProtoBytes(config: SessionConfig): Uint8Array {
  const { interOpThreads, intraOpThreads, gpuMemoryFraction, gpuAllowGrowth } = config;
  const proto = clone(ConfigProtoSchema, config.base ?? create(ConfigProtoSchema));
  if (interOpThreads !== undefined) proto.interOpParallelismThreads = interOpThreads;
  if (interOpThreads === IN_CALLING_THREAD) {
    const pool = { numThreads: RUNS_AT_A_TIME, globalName: TIMED_RUNS };
    proto.sessionInterOpThreadPool = [create(ThreadPoolOptionProtoSchema, pool)];
  }
  if (intraOpThreads !== undefined) proto.intraOpParallelismThreads = intraOpThreads;
  if (gpuMemoryFraction !== undefined) {
    proto.gpuOptions ??= create(GPUOptionsSchema);
    proto.gpuOptions.perProcessGpuMemoryFraction = gpuMemoryFraction;
  }
  if (gpuAllowGrowth) {
    proto.gpuOptions ??= create(GPUOptionsSchema);
    proto.gpuOptions.allowGrowth = true;
  }
  setGraphOptions(proto, config);
  return toBinary(ConfigProtoSchema, proto);
}

function setGraphOptions(proto: ConfigProto, { jit, mixedPrecision }: SessionConfig): void {
  if (!jit && !mixedPrecision) return;
  proto.graphOptions ??= create(GraphOptionsSchema);
  if (jit) {
    proto.graphOptions.optimizerOptions ??= create(OptimizerOptionsSchema);
    proto.graphOptions.optimizerOptions.globalJitLevel = OptimizerOptions_GlobalJitLevel.ON_1;
    proto.graphOptions.optimizerOptions.cpuGlobalJit = true;
  }
  if (!mixedPrecision) return;
  proto.graphOptions.rewriteOptions ??= create(RewriterConfigSchema);
  const rewrite = proto.graphOptions.rewriteOptions;
  // Not auto_mixed_precision_cpu, float16 on processors: TensorFlow 2.21 ends the process over some graphs.
  if (mixedPrecision === 'float16') rewrite.autoMixedPrecision = RewriterConfig_Toggle.ON;
  else rewrite.autoMixedPrecisionOnednnBfloat16 = RewriterConfig_Toggle.ON;
}
