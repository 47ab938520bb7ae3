/**
 * TensorFlow's, TensorFlow Serving's and gRPC health's protobuf messages (generated from `proto/` by
 * `npm run protos -w tensors`), with the names of the gRPC services that carry them.
 */
export * from './gen/error_codes_pb.ts';
export * from './gen/health_pb.ts';
export * from './gen/serving_pb.ts';
export * from './gen/tensorflow_pb.ts';
export { GRPC_METHODS } from './grpc-methods.ts';
export { ownEntries, readMessage } from './read-message.ts';

/** The `type_url` of the `signature_def` entry in a GetModelMetadataResponse. */
export const SIGNATURE_DEF_MAP_TYPE_URL = 'type.googleapis.com/tensorflow.serving.SignatureDefMap';
