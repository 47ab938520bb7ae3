/** Answers about models, the same over gRPC and REST: their versions' states and their signatures. */

import { create, toBinary } from '@bufbuild/protobuf';
import { answeredSpec, type Servable } from '@sagemaker-tfs/libtensorflow/serving';
import {
  Code,
  type GetModelMetadataResponse,
  GetModelMetadataResponseSchema,
  type GetModelStatusResponse,
  GetModelStatusResponseSchema,
  SIGNATURE_DEF_MAP_TYPE_URL,
  type SignatureDefMap,
  SignatureDefMapSchema,
} from '@sagemaker-tfs/tensors/protos';
import type { ModelSpec } from './model-manager.ts';
import type { ServingCore } from './serving-core.ts';
import type { VersionStatus } from './state-monitor.ts';

/** The key of the signatures in a GetModelMetadataResponse. */
export const SIGNATURE_DEF = 'signature_def';

/** States of a model's versions. @throws StatusError */
export function modelStatus({ models }: ServingCore, spec: ModelSpec): GetModelStatusResponse {
  return create(GetModelStatusResponseSchema, {
    modelVersionStatus: models.statuses(spec).map(versionStatus),
  });
}

function versionStatus({ version, state, error }: VersionStatus) {
  const status = { errorCode: error?.code ?? Code.OK, errorMessage: error?.message ?? '' };
  return { version, state, status };
}

/** The signatures of a loaded version. */
export function signatureDefMap(servable: Servable): SignatureDefMap {
  return Object.assign(create(SignatureDefMapSchema), {
    signatureDef: { ...servable.signatureDefs },
  });
}

/** Which version answers, and its signatures packed in an Any. @throws StatusError */
export function modelMetadata(
  { models }: ServingCore,
  spec: ModelSpec,
): Promise<GetModelMetadataResponse> {
  return models.use(spec, async (servable) =>
    create(GetModelMetadataResponseSchema, {
      modelSpec: answeredSpec(servable, ''),
      metadata: {
        [SIGNATURE_DEF]: {
          typeUrl: SIGNATURE_DEF_MAP_TYPE_URL,
          value: toBinary(SignatureDefMapSchema, signatureDefMap(servable)),
        },
      },
    }),
  );
}
