export { type LayOutResult, layOut, readManifest } from './archive/lay-out.ts';
export { requireManifestFiles } from './archive/manifest-files.ts';
export {
  type BakedImageOptions,
  type BakedImageResult,
  writeBakedImage,
} from './baked-image/baked-image.ts';
export {
  PACKAGING_ERRORS,
  PackagingError,
  type PackagingErrorCode,
} from './errors.ts';
export { readDeclaredBodies } from './handler/read-declared-bodies.ts';
export { canBeAsked } from './inspect/can-be-asked.ts';
export { inspectModel } from './inspect/inspect.ts';
export { pictureInput, signatureOf } from './inspect/picture-input.ts';
export type * from './inspect/report.ts';
export { callableSignatures, servedGraph } from './inspect/served-graph.ts';
export { type OpenApiDocument, type OpenApiOptions, openApiDocument } from './openapi/openapi.ts';
export { openApiOfSource } from './openapi/openapi-of-source.ts';
export { type PackageOptions, type PackageResult, packageModel } from './package-model.ts';
export type { ContentOptions, PackagingProgress } from './plan/content.ts';
export { formatBytes, formatMs } from './render/format.ts';
export { type InspectTextOptions, renderInspect } from './render/inspect-text.ts';
export { hasRawPixels, pictureText } from './render/picture-text.ts';
export { type RequestExamples, requestExamples } from './render/request-examples.ts';
export { signatureText } from './render/signature-text.ts';
export { renderVerify, untried } from './render/verify-text.ts';
export { declaredRequest } from './samples/declared-request.ts';
export { bestOf } from './samples/made-up-requests.ts';
export type { SampleFile, SampleRequest, SampleSource } from './samples/sample-file.ts';
export { sampleForms, sampleOfModel } from './samples/sample-of-model.ts';
export { takesExamples } from './samples/synthetic.ts';
export type { ModelSource } from './source/discover.ts';
export type { ModelOption } from './source/model-source.ts';
export type { OpenOptions } from './source/open-options.ts';
export { withSource } from './source/open-source.ts';
export { fetchFromS3, isS3Uri } from './source/s3.ts';
export type * from './verify/report.ts';
export { type SignatureTrial, signatureTrials } from './verify/signature-trials.ts';
export {
  type RunThroughRuntime,
  type RuntimeAnswer,
  type VerifyOptions,
  verifyArchive,
} from './verify/verify.ts';
export type { WarmupOption } from './warmup/warmup.ts';
