/** What the flags come to: checked, with the files that they name read. */

import { create, type DescMessage, type MessageShape } from '@bufbuild/protobuf';
import { ensureLibrary, progressBar } from '@sagemaker-tfs/libtensorflow';
import {
  BatchingSession,
  BatchThreads,
  invalidArgument,
  type ServableOptions,
} from '@sagemaker-tfs/libtensorflow/serving';
import { ConfigProtoSchema } from '@sagemaker-tfs/tensors/protos';
import { batchingOptionsOf } from './batching-parameters.ts';
import type { Flags } from './flags.ts';
import { BatchingParametersSchema } from './gen/server_config_pb.ts';
import type { GrpcOptions } from './grpc/server.ts';
import { log } from './log.ts';
import { type ModelConfig, readModelConfigFile, singleModelConfig } from './model-config.ts';
import type { RestOptions } from './rest/server.ts';
import { readTextProto } from './text-proto.ts';

/** All that a server needs to start. */
export interface ServerOptions {
  readonly models: readonly ModelConfig[];
  readonly servables: ServableOptions;
  readonly grpc: GrpcOptions;
  /** Undefined if the REST API is off. */
  readonly rest: RestOptions | undefined;
}

/**
 * Reads the options, and finds or fetches libtensorflow with progress on stderr.
 * @throws StatusError for flags and files that are wrong; LibTensorFlowError where there is no library
 */
export async function readServerOptions(flags: Flags): Promise<ServerOptions> {
  checkFlags(flags);
  return {
    models: await modelsOf(flags),
    grpc: {
      host: flags.host,
      port: flags.port,
      socketPath: flags.grpc_socket_path,
      maxThreads: flags.grpc_max_threads,
      healthService: flags.enable_grpc_healthcheck_service,
    },
    rest: restOptionsOf(flags),
    servables: await servableOptionsOf(flags),
  };
}

function checkFlags(flags: Flags): void {
  if (flags.port === 0 && !flags.grpc_socket_path) {
    throw invalidArgument(
      'At least one of server_options.grpc_port or server_options.grpc_socket_path must be set.',
    );
  }
  if (!flags.model_base_path && !flags.model_config_file) {
    throw invalidArgument(
      'Both server_options.model_base_path and server_options.model_config_file are empty!',
    );
  }
  if (flags.batching_parameters_file && !flags.enable_batching) {
    throw invalidArgument(
      'server_options.batching_parameters_file is set without setting server_options.enable_batching to true.',
    );
  }
  if (flags.ssl_config_file) {
    throw invalidArgument(
      '--ssl_config_file: this stand-in serves without TLS. Leave the flag out.',
    );
  }
  const { tensorflow_intra_op_parallelism: intra, tensorflow_inter_op_parallelism: inter } = flags;
  if (intra > 0 && inter > 0 && flags.tensorflow_session_parallelism > 0) {
    throw invalidArgument(
      'Either configure server_options.tensorflow_session_parallelism or (server_options.tensorflow_intra_op_parallelism, server_options.tensorflow_inter_op_parallelism) separately. You cannot configure all.',
    );
  }
}

async function modelsOf(flags: Flags): Promise<ModelConfig[]> {
  if (flags.model_config_file) return readModelConfigFile(flags.model_config_file);
  log.info(
    `Building single TensorFlow model file config:  model_name: ${flags.model_name} model_base_path: ${flags.model_base_path}`,
  );
  return singleModelConfig(flags.model_name, flags.model_base_path);
}

async function optionalFile<Desc extends DescMessage>(
  schema: Desc,
  file: string,
): Promise<MessageShape<Desc> | undefined> {
  return file ? readTextProto(schema, file) : undefined;
}

async function servableOptionsOf(flags: Flags): Promise<ServableOptions> {
  const bar = progressBar();
  const library = await ensureLibrary({ onProgress: bar.onProgress }).finally(bar.stop);
  const intra = flags.tensorflow_intra_op_parallelism || flags.tensorflow_session_parallelism;
  const inter = flags.tensorflow_inter_op_parallelism || flags.tensorflow_session_parallelism;
  const batching = await batchingOf(flags);
  const base = await optionalFile(ConfigProtoSchema, flags.tensorflow_session_config_file);
  return {
    library,
    tags: flags.saved_model_tags.split(','),
    ...(intra > 0 && { intraOpThreads: intra }),
    ...(inter > 0 && { interOpThreads: inter }),
    ...(flags.per_process_gpu_memory_fraction > 0 && {
      gpuMemoryFraction: flags.per_process_gpu_memory_fraction,
    }),
    ...mixedPrecisionOf(flags),
    ...(base && { base }),
    ...(batching && { batching }),
    log: log.info,
    warmupIterations: flags.enable_model_warmup
      ? Math.max(1, flags.num_request_iterations_for_warmup)
      : 0,
  };
}

function mixedPrecisionOf({
  mixed_precision: mode,
}: Flags): Pick<ServableOptions, 'mixedPrecision'> {
  if (mode === 'bfloat16') return { mixedPrecision: mode };
  if (mode) log.warning(`${mode} mixed precision is not supported. Valid option: bfloat16`);
  return {};
}

async function batchingOf(flags: Flags): Promise<ServableOptions['batching']> {
  if (!flags.enable_batching) return undefined;
  const file = await optionalFile(BatchingParametersSchema, flags.batching_parameters_file);
  const options = batchingOptionsOf(file ?? create(BatchingParametersSchema));
  const threads = new BatchThreads(options.numBatchThreads);
  return (session) => new BatchingSession(session, options, threads);
}

function restOptionsOf(flags: Flags): RestOptions | undefined {
  if (flags.rest_api_port === 0) return undefined;
  if (flags.rest_api_port === flags.port) {
    log.error(
      'server_options.http_port cannot be same as grpc_port. Please use a different port for HTTP/REST API. Skipped exporting HTTP/REST API.',
    );
    return undefined;
  }
  return {
    host: flags.host,
    port: flags.rest_api_port,
    threads: flags.rest_api_num_threads,
    timeoutMs: flags.rest_api_timeout_in_ms,
  };
}
