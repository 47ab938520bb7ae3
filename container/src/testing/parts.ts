/** Parts of the runtime that benchmarks, conformance and fuzzing take by themselves. */
export { readPredictReply } from '../backends/rest/predict-json.ts';
export { readOptions } from '../batch-worker/options.ts';
export { checkExample } from '../codecs/check-example.ts';
export type { DecodeContext } from '../codecs/codec.ts';
export { unsnapped } from '../codecs/parquet/snappy.ts';
export { decodeRequest, encodeResponse } from '../codecs/registry.ts';
export { decodeExample } from '../codecs/tf-example.ts';
export { encodeExample } from '../codecs/tf-example-writer.ts';
export { DEFAULT_DECODE_LIMITS } from '../decode-limits.ts';
export { ServingError } from '../errors.ts';
export { readBody } from '../http/read-body.ts';
export type { Routes } from '../http/route-match.ts';
export { startServer } from '../http/server.ts';
export { decodeImage } from '../images/decode-image.ts';
export { readJpegHeader } from '../images/jpeg-header.ts';
export { type Interpolation, resample } from '../images/resample.ts';
export { checkCall } from '../inference/check-call.ts';
export { parseRequestAttributes } from '../inference/custom-attributes.ts';
