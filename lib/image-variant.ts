/** What serving images hold. */

/**
 * What an image holds beside the runtime: TensorFlow Serving for CPUs (`cpu`) or NVIDIA GPUs (`gpu`), or
 * TensorFlow's C library in the runtime's own process, with no server between, for CPUs (`in-process`) or NVIDIA GPUs
 * (`in-process-gpu`).
 */
export type ServingImageVariant = 'cpu' | 'gpu' | 'in-process' | 'in-process-gpu';

/** Whether the runtime computes itself, with no TensorFlow Serving in the image. */
export function isInProcess(variant: ServingImageVariant): boolean {
  return variant.startsWith('in-process');
}

/** Whether the image's TensorFlow is built for GPUs. */
export function isForGpus(variant: ServingImageVariant): boolean {
  return variant.endsWith('gpu');
}
