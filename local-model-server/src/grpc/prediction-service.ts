/** tensorflow.serving.PredictionService. */

import { create } from '@bufbuild/protobuf';
import {
  answeredSpec,
  classify,
  invalidArgument,
  multiInference,
  predict,
  regress,
  type Servable,
  StatusError,
  serializedExamples,
} from '@sagemaker-tfs/libtensorflow/serving';
import {
  type AbortSignalLike,
  DEFAULT_SIGNATURE,
  decodePredictRequest,
  encodePredictResponse,
  type PredictRequestMessage,
  TensorError,
} from '@sagemaker-tfs/tensors';
import {
  type ClassificationRequest,
  ClassificationRequestSchema,
  ClassificationResponseSchema,
  Code,
  GetModelMetadataRequestSchema,
  GetModelMetadataResponseSchema,
  type ModelSpec,
  ModelSpecSchema,
  MultiInferenceRequestSchema,
  MultiInferenceResponseSchema,
  PredictRequestSchema,
  type RegressionRequest,
  RegressionRequestSchema,
  RegressionResponseSchema,
} from '@sagemaker-tfs/tensors/protos';
import { modelMetadata, SIGNATURE_DEF } from '../model-info.ts';
import { modelSpecOf } from '../model-spec.ts';
import type { ServingCore } from '../serving-core.ts';
import { frameMessage } from './framing.ts';
import { messageMethod, parseMessage, type UnaryMethod } from './methods.ts';
import { encodeTypedPredictResponse } from './typed-response.ts';

/** Runs a signature. */
export function predictMethod(core: ServingCore): UnaryMethod {
  const encode = core.tensorContent ? encodePredictResponse : encodeTypedPredictResponse;
  return async (bytes, signal) => {
    const request = readRequest(bytes);
    const { name, version, label } = request.model;
    const spec = { name, label, version: version === undefined ? undefined : BigInt(version) };
    return core.models.use(spec, async (servable) => {
      const { outputs, release } = await predict(
        servable,
        { ...request, signal },
        core.checkMethodName,
      );
      try {
        const chunks = encode({
          model: { name, version: String(servable.version) },
          signature: request.signature || DEFAULT_SIGNATURE,
          outputs,
        });
        return frameMessage(chunks);
      } finally {
        release();
      }
    });
  };
}

/**
 * @throws StatusError INVALID_ARGUMENT naming the tensor that cannot be read, or for a missing spec; RESOURCE_EXHAUSTED
 *   for one of too many strings, names or repeated values; INTERNAL for others
 */
function readRequest(bytes: Buffer): PredictRequestMessage {
  try {
    const request = decodePredictRequest(bytes);
    if (request.model.name === '') modelSpecOf(parseMessage(PredictRequestSchema, bytes).modelSpec);
    return request;
  } catch (error) {
    if (!(error instanceof TensorError)) throw error;
    if (error.code === 'TOO_LARGE') {
      throw new StatusError(Code.RESOURCE_EXHAUSTED, error.message, { cause: error });
    }
    const [, name] = /^input "(.*?)": /s.exec(error.message) ?? [];
    if (name === undefined) throw new StatusError(Code.INTERNAL, '', { cause: error });
    throw invalidArgument(`tensor parsing error: ${name}`, { cause: error });
  }
}

/** Classes and scores of tf.Examples. */
export function classifyMethod(core: ServingCore): UnaryMethod {
  const schemas = { request: ClassificationRequestSchema, response: ClassificationResponseSchema };
  return messageMethod(schemas, async (request, signal) =>
    create(ClassificationResponseSchema, await runExamples(core, request, classify, signal)),
  );
}

/** Values of tf.Examples. */
export function regressMethod(core: ServingCore): UnaryMethod {
  const schemas = { request: RegressionRequestSchema, response: RegressionResponseSchema };
  return messageMethod(schemas, async (request, signal) =>
    create(RegressionResponseSchema, await runExamples(core, request, regress, signal)),
  );
}

/** Runs a signature on the tf.Examples of a request. */
async function runExamples<Result>(
  core: ServingCore,
  { modelSpec, input }: ClassificationRequest | RegressionRequest,
  run: ExamplesRun<Result>,
  signal: AbortSignalLike | undefined,
): Promise<{ modelSpec: ModelSpec; result: Result }> {
  const name = modelSpec?.signatureName ?? '';
  return core.models.use(modelSpecOf(modelSpec), async (servable) => ({
    modelSpec: answeredSpec(servable, name || DEFAULT_SIGNATURE),
    result: await run(servable, name, serializedExamples(input), core.checkMethodName, signal),
  }));
}

/** {@link classify} or {@link regress}. */
type ExamplesRun<Result> = (
  servable: Servable,
  signature: string,
  examples: readonly Uint8Array[],
  checkMethodName: boolean,
  signal: AbortSignalLike | undefined,
) => Promise<Result>;

/** Classes, scores and values of the same tf.Examples by several signatures of one model. */
export function multiInferenceMethod(core: ServingCore): UnaryMethod {
  const schemas = { request: MultiInferenceRequestSchema, response: MultiInferenceResponseSchema };
  return messageMethod(schemas, async (request, signal) => {
    const first = request.tasks[0]?.modelSpec ?? create(ModelSpecSchema);
    return core.models.use(modelSpecOf(first), async (servable) =>
      create(MultiInferenceResponseSchema, {
        results: await multiInference(servable, request, core.checkMethodName, signal),
      }),
    );
  });
}

/** The signatures of a version. */
export function getModelMetadata(core: ServingCore): UnaryMethod {
  const schemas = {
    request: GetModelMetadataRequestSchema,
    response: GetModelMetadataResponseSchema,
  };
  return messageMethod(schemas, async (request) => {
    const spec = modelSpecOf(request.modelSpec);
    if (request.metadataField.length === 0) {
      throw invalidArgument('GetModelMetadataRequest must specify at least one metadata_field');
    }
    const unknown = request.metadataField.find((field) => field !== SIGNATURE_DEF);
    if (unknown !== undefined) throw invalidArgument(`Metadata field ${unknown} is not supported`);
    return modelMetadata(core, spec);
  });
}
