/**
 * Which models the server serves: from `--model_config_file`, from `--model_name` and `--model_base_path`,
 * or from a HandleReloadConfigRequest; checked as TensorFlow Serving's ServerCore checks them.
 */

import { isAbsolute } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { failedPrecondition, invalidArgument } from '@sagemaker-tfs/libtensorflow/serving';
import {
  type ModelConfig as ModelConfigMessage,
  type ModelServerConfig,
  ModelServerConfigSchema,
  ModelType,
} from '@sagemaker-tfs/tensors/protos';
import { readTextProto } from './text-proto.ts';
import type { VersionPolicy } from './version-policy.ts';

/** One model to serve. */
export interface ModelConfig {
  readonly name: string;
  /** Absolute path of the directory that holds the version directories. */
  readonly basePath: string;
  readonly versionPolicy: VersionPolicy;
  /** Version by label. */
  readonly labels: ReadonlyMap<string, bigint>;
}

const PLATFORM = 'tensorflow';

/**
 * The configuration that `--model_name` and `--model_base_path` stand for.
 * @throws StatusError INVALID_ARGUMENT for a relative path
 */
export function singleModelConfig(name: string, basePath: string): ModelConfig[] {
  const config = { name, basePath, modelPlatform: PLATFORM };
  return modelConfigsOf(
    create(ModelServerConfigSchema, {
      config: { case: 'modelConfigList', value: { config: [config] } },
    }),
  );
}

/** Reads `--model_config_file`. @throws StatusError with what is wrong and where */
export async function readModelConfigFile(file: string): Promise<ModelConfig[]> {
  return modelConfigsOf(await readTextProto(ModelServerConfigSchema, file));
}

/**
 * The models of a ModelServerConfig.
 * @throws StatusError INVALID_ARGUMENT for a model listed twice, a relative path, another platform;
 *   FAILED_PRECONDITION for a custom configuration
 */
export function modelConfigsOf(config: ModelServerConfig): ModelConfig[] {
  if (config.config.case === 'customModelConfig') {
    throw failedPrecondition('ModelServer does not yet support custom model config.');
  }
  const messages = config.config.value?.config ?? [];
  const names = new Set<string>();
  for (const { name } of messages) {
    if (names.has(name)) {
      throw invalidArgument(`Illegal to list model ${name} multiple times in config list`);
    }
    names.add(name);
  }
  return messages.map(modelConfigOf);
}

function modelConfigOf(message: ModelConfigMessage): ModelConfig {
  const { name, basePath } = message;
  if (!isAbsolute(basePath)) {
    throw invalidArgument(
      `Expected model ${name} to have an absolute path or URI; got base_path()=${basePath}`,
    );
  }
  checkPlatform(message);
  return {
    name,
    basePath,
    versionPolicy: versionPolicyOf(message),
    labels: new Map(Object.entries(message.versionLabels)),
  };
}

function checkPlatform({ name, modelType, modelPlatform }: ModelConfigMessage): void {
  const typed = modelType !== ModelType.MODEL_TYPE_UNSPECIFIED;
  if (typed && modelPlatform !== '') {
    throw invalidArgument(
      `Illegal setting both ModelServerConfig::model_type (deprecated) and ModelServerConfig::model_platform, model name is ${name}`,
    );
  }
  if (modelType === ModelType.TENSORFLOW || modelPlatform === PLATFORM) return;
  if (typed) {
    throw invalidArgument(`ModelServerConfig::model_type choice ${modelType} not supported.`);
  }
  throw invalidArgument(
    modelPlatform === ''
      ? `Illegal setting neither ModelServerConfig::model_type (deprecated) nor ModelServerConfig::model_platform, model name is ${name}`
      : `Model ${name} requests unsupported platform ${modelPlatform}`,
  );
}

function versionPolicyOf({ modelVersionPolicy }: ModelConfigMessage): VersionPolicy {
  const choice = modelVersionPolicy?.policyChoice;
  switch (choice?.case) {
    case 'all':
      return { kind: 'all' };
    case 'specific':
      return { kind: 'specific', versions: choice.value.versions };
    case 'latest':
      return { kind: 'latest', count: Math.max(1, choice.value.numVersions) };
    default:
      return { kind: 'latest', count: 1 };
  }
}
