/** The layer of an image that holds a model: what `package --baked-image` and the constructs write into a Dockerfile. */

/**
 * Where the model lies in the image. Not below `/opt/ml`: SageMaker lays its own `/opt/ml/model` out there, empty for a
 * model without data.
 * https://docs.aws.amazon.com/sagemaker/latest/dg/your-algorithms-inference-code.html#your-algorithms-inference-code-load-artifacts
 */
const MODEL_DIR = '/opt/sagemaker-tfs/model';

/** Lines for a Dockerfile whose build context has the laid-out model in `model/`. */
export const BAKED_LAYER: readonly string[] = [
  `COPY model/ ${MODEL_DIR}/`,
  `ENV SAGEMAKER_TFS_MODEL_DIR=${MODEL_DIR}`,
];
