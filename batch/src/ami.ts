/**
 * Host images of transform jobs, which decide the NVIDIA driver. SageMaker's default for ml.g4dn and ml.p3 is older than
 * the CUDA of today's TensorFlow Serving images: left unset, the model falls back to the CPU or never starts.
 */

/**
 * NVIDIA driver branch of each host image.
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_TransformResources.html
 */
export const TRANSFORM_AMI_DRIVERS: Readonly<Record<string, number>> = {
  'al2-ami-sagemaker-batch-gpu-470': 470,
  'al2-ami-sagemaker-batch-gpu-535': 535,
};

/** The image for current TensorFlow Serving on a GPU that its driver still supports. */
export const DEFAULT_TRANSFORM_AMI = 'al2-ami-sagemaker-batch-gpu-535';

/** Images from first to last choice. */
export const PREFERRED_TRANSFORM_AMIS = [
  DEFAULT_TRANSFORM_AMI,
  'al2-ami-sagemaker-batch-gpu-470',
] as const;

/** The host image for an instance type, where only its name is known; undefined for SageMaker's default. */
export function amiFor(instanceType: string): string | undefined {
  return /^ml\.[gp]\d/.test(instanceType) ? DEFAULT_TRANSFORM_AMI : undefined;
}
