/** `sagemaker-tfs`: what the command does, for programs. */
import { requireNode } from '@sagemaker-tfs/batch/node-version';

export {
  type BakedImageOptions,
  type BakedImageResult,
  type ContentOptions,
  inspectModel,
  type LayOutResult,
  layOut,
  type ModelOption,
  type PackageOptions,
  type PackageResult,
  PackagingError,
  type PackagingErrorCode,
  type PackagingProgress,
  packageModel,
  renderInspect,
  type SampleFile,
  type SampleSource,
  type VerifyReport,
  writeBakedImage,
} from '@sagemaker-tfs/model-packaging';
export { COMMAND_ERRORS, CommandError } from './errors.ts';
export { commandFile, containerDirectory, packageVersion } from './files.ts';
export { type ServedModel, type ServeModelOptions, serveModel } from './serving/serve-model.ts';
export { verifyWithRuntime } from './serving/verify.ts';

requireNode('sagemaker-tfs');
