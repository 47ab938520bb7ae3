/** `sagemaker-tfs/client`: what a caller of a runtime or an endpoint needs, in Node and in browsers. */
export { parseCustomAttributes } from '@sagemaker-tfs/tensors/custom-attributes';
export type { Answer } from './answer/answer.ts';
export { type ImagesBodyOptions, imagesBody } from './body/images-body.ts';
export { jsonBody } from './body/json-body.ts';
export type { RequestBody } from './body/request-body.ts';
export { tensorsBody } from './body/tensors-body.ts';
export {
  formatCustomAttributes,
  type RequestAttributes,
} from './custom-attributes.ts';
export { CLIENT_ERRORS, type ClientCode, PredictionError } from './errors/prediction-error.ts';
export { fitImage } from './images/fit-image.ts';
export type { FitImageOptions } from './images/fit-image-options.ts';
export { type PredictOptions, predict, predictStream, type StreamedAnswer } from './predict.ts';
export {
  type AsyncPrediction,
  type PredictAsyncOptions,
  predictAsync,
} from './predict-async.ts';
export type { RetryOptions } from './retry.ts';
export type { EndpointTarget, Target, UrlTarget } from './targets/target.ts';
export { type ElementArrays, type TensorValue, type TypedTensor, texts } from './typed-tensor.ts';
