/** The gRPC services of TensorFlow Serving, without their messages, which take longer to load. */

/** Paths of the gRPC methods: `/package.Service/Method`. */
export const GRPC_METHODS = {
  predict: '/tensorflow.serving.PredictionService/Predict',
  classify: '/tensorflow.serving.PredictionService/Classify',
  regress: '/tensorflow.serving.PredictionService/Regress',
  multiInference: '/tensorflow.serving.PredictionService/MultiInference',
  getModelMetadata: '/tensorflow.serving.PredictionService/GetModelMetadata',
  getModelStatus: '/tensorflow.serving.ModelService/GetModelStatus',
  handleReloadConfigRequest: '/tensorflow.serving.ModelService/HandleReloadConfigRequest',
  healthCheck: '/grpc.health.v1.Health/Check',
} as const;
