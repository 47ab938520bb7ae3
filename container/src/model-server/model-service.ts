/** TensorFlow Serving's ModelService and GetModelMetadata: what is loaded, and loading something else. */
import { create, toBinary } from '@bufbuild/protobuf';
import { type AbortSignalLike, type SignatureMap, signaturesOf } from '@sagemaker-tfs/tensors';
import {
  GetModelMetadataRequestSchema,
  GetModelMetadataResponseSchema,
  GetModelStatusRequestSchema,
  GetModelStatusResponseSchema,
  GRPC_METHODS,
  type ModelSpec,
  ModelSpecSchema,
  ModelVersionStatus_State,
  ReloadConfigRequestSchema,
  ReloadConfigResponseSchema,
  readMessage,
  SignatureDefMapSchema,
} from '@sagemaker-tfs/tensors/protos';
import { StatusError } from '@sagemaker-tfs/tensors/status-error';
import type { ModelSelector, ModelVersionState, ModelVersionStatus } from '../models/servable.ts';
import type { ServedModel } from '../models/served-model.ts';
import type { UnaryChannel } from '../transport/grpc/unary-channel.ts';

interface CallOptions {
  readonly signal?: AbortSignalLike;
}

/** The versions of a model, newest first. @throws StatusError, ConnectionLost */
export async function getModelStatus(
  channel: UnaryChannel,
  model: ModelSelector,
  options: CallOptions = {},
): Promise<ModelVersionStatus[]> {
  const request = toBinary(
    GetModelStatusRequestSchema,
    create(GetModelStatusRequestSchema, { modelSpec: modelSpecOf(model) }),
  );
  const reply = readMessage(
    GetModelStatusResponseSchema,
    await channel.call({ path: GRPC_METHODS.getModelStatus, message: [request], ...options }),
  );
  return reply.modelVersionStatus
    .map((status) => ({
      version: status.version.toString(),
      state: stateName(status.state),
      errorMessage: status.status?.errorMessage ?? '',
    }))
    .sort((a, b) => (BigInt(a.version) > BigInt(b.version) ? -1 : 1));
}

function stateName(state: ModelVersionStatus_State): ModelVersionState {
  const name = ModelVersionStatus_State[state];
  return (name as ModelVersionState | undefined) ?? 'UNKNOWN';
}

/** The signatures of a servable and the version they are of. @throws StatusError, ConnectionLost */
export async function getModelSignatures(
  channel: UnaryChannel,
  model: ModelSelector,
  options: CallOptions = {},
): Promise<{ signatures: SignatureMap; version: string | undefined }> {
  const request = toBinary(
    GetModelMetadataRequestSchema,
    create(GetModelMetadataRequestSchema, {
      modelSpec: modelSpecOf(model),
      metadataField: ['signature_def'],
    }),
  );
  const reply = readMessage(
    GetModelMetadataResponseSchema,
    await channel.call({ path: GRPC_METHODS.getModelMetadata, message: [request], ...options }),
  );
  const packed = reply.metadata.signature_def;
  const map = readMessage(SignatureDefMapSchema, packed?.value ?? new Uint8Array());
  const version = reply.modelSpec?.versionChoice;
  return {
    signatures: signaturesOf(map.signatureDef),
    version: version?.case === 'version' ? version.value.value.toString() : undefined,
  };
}

/**
 * Replaces the whole list of served models; returns when the new ones are available.
 * @throws StatusError also if a model could not be loaded
 */
export async function reloadConfig(
  channel: UnaryChannel,
  models: readonly ServedModel[],
  options: CallOptions = {},
): Promise<void> {
  const request = create(ReloadConfigRequestSchema, {
    config: { config: { case: 'modelConfigList', value: { config: models.map(modelConfigOf) } } },
  });
  const message = [toBinary(ReloadConfigRequestSchema, request)];
  const reply = readMessage(
    ReloadConfigResponseSchema,
    await channel.call({ path: GRPC_METHODS.handleReloadConfigRequest, message, ...options }),
  );
  const { errorCode = 0, errorMessage = '' } = reply.status ?? {};
  if (errorCode !== 0) throw new StatusError(errorCode, errorMessage);
}

function modelConfigOf(model: ServedModel) {
  const labels = Object.entries(model.labels ?? {});
  return {
    name: model.name,
    basePath: model.basePath,
    modelPlatform: 'tensorflow',
    modelVersionPolicy: {
      policyChoice: {
        case: 'specific' as const,
        value: { versions: model.versions.map((version) => BigInt(version)) },
      },
    },
    versionLabels: Object.fromEntries(labels.map(([label, version]) => [label, BigInt(version)])),
  };
}

/** The ModelSpec of a selector, for any request that carries one. */
export function modelSpecOf(model: ModelSelector, signatureName = ''): ModelSpec {
  return create(ModelSpecSchema, {
    name: model.name,
    signatureName,
    versionChoice: versionChoiceOf(model),
  });
}

function versionChoiceOf(model: ModelSelector) {
  if (model.version !== undefined) {
    return { case: 'version' as const, value: { value: BigInt(model.version) } };
  }
  if (model.label !== undefined) return { case: 'versionLabel' as const, value: model.label };
  return { case: undefined };
}
