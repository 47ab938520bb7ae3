/** tensorflow.serving.ModelService. */

import { create } from '@bufbuild/protobuf';
import { invalidArgument, statusText, toStatusError } from '@sagemaker-tfs/libtensorflow/serving';
import {
  GetModelStatusRequestSchema,
  GetModelStatusResponseSchema,
  ReloadConfigRequestSchema,
  ReloadConfigResponseSchema,
} from '@sagemaker-tfs/tensors/protos';
import { log } from '../log.ts';
import { modelConfigsOf } from '../model-config.ts';
import { modelStatus } from '../model-info.ts';
import { modelSpecOf } from '../model-spec.ts';
import type { ServingCore } from '../serving-core.ts';
import { messageMethod, type UnaryMethod } from './methods.ts';

/** States of a model's versions. */
export function getModelStatus(core: ServingCore): UnaryMethod {
  const schemas = { request: GetModelStatusRequestSchema, response: GetModelStatusResponseSchema };
  return messageMethod(schemas, async ({ modelSpec }) => modelStatus(core, modelSpecOf(modelSpec)));
}

/** Replaces the models served. */
export function handleReloadConfigRequest(core: ServingCore): UnaryMethod {
  const schemas = { request: ReloadConfigRequestSchema, response: ReloadConfigResponseSchema };
  return messageMethod(schemas, async ({ config }) => {
    try {
      if (config?.config.case !== 'modelConfigList') {
        throw invalidArgument(
          'ServerModelConfig type not supported by HandleReloadConfigRequest. Only ModelConfigList is currently supported',
        );
      }
      await core.models.reload(() => modelConfigsOf(config));
      return create(ReloadConfigResponseSchema, { status: {} });
    } catch (error) {
      log.error(`ReloadConfig failed: ${statusText(toStatusError(error))}`);
      throw error;
    }
  });
}
