/** Options of a session as TensorFlow's ConfigProto. */
import { create, toBinary } from '@bufbuild/protobuf';
import { ConfigProtoSchema, OptimizerOptions_GlobalJitLevel } from '@sagemaker-tfs/tensors/protos';

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
  /** Compile parts of the graph with XLA, on the processor too. Default: false. */
  readonly jit?: boolean;
}

/** The serialized ConfigProto (tensorflow/core/protobuf/config.proto). */
export function configProtoBytes(config: SessionConfig): Uint8Array {
  const { interOpThreads, intraOpThreads, gpuMemoryFraction, jit } = config;
  return toBinary(
    ConfigProtoSchema,
    create(ConfigProtoSchema, {
      ...(interOpThreads !== undefined && { interOpParallelismThreads: interOpThreads }),
      ...(intraOpThreads !== undefined && { intraOpParallelismThreads: intraOpThreads }),
      ...(gpuMemoryFraction !== undefined && {
        gpuOptions: { perProcessGpuMemoryFraction: gpuMemoryFraction },
      }),
      ...(jit && {
        graphOptions: {
          optimizerOptions: {
            globalJitLevel: OptimizerOptions_GlobalJitLevel.ON_1,
            cpuGlobalJit: true,
          },
        },
      }),
    }),
  );
}
