/** Which instances have the processor and the GPU that a serving image is built for: of SageMaker and of AWS Batch. */
import { Annotations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { ServingImageVariant } from './image-variant.ts';
import type { InstanceFamily } from './instance-types/index.ts';
import { invalidProp, type Where } from './validation.ts';

/** The properties of a serving image that decide on which hosts it runs. */
export interface ImagePlatform {
  readonly accelerator: 'cpu' | 'gpu';
  /** CUDA version that the image is built on, `12.5`; only with `gpu`. */
  readonly cuda?: string;
  readonly architecture: 'x86_64' | 'arm64';
}

/**
 * The oldest driver branch that runs any minor release of a CUDA major version on data center GPUs, and
 * the oldest GPU generation which that CUDA still supports.
 * @see https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html
 */
const CUDA_NEEDS: Readonly<Record<string, { driver: number; computeCapability: number }>> = {
  '11': { driver: 450, computeCapability: 3.5 },
  '12': { driver: 525, computeCapability: 5.0 },
  '13': { driver: 580, computeCapability: 7.5 },
};

function needsOf(where: Where, prop: string, cuda: string | undefined) {
  const needs = CUDA_NEEDS[cuda?.split('.')[0] ?? ''];
  if (needs) return needs;
  return invalidProp(
    where,
    prop,
    `the image's CUDA version is ${cuda ? `'${cuda}'` : 'not given'}`,
    `Give 'cuda' where the image is defined, as MAJOR.MINOR; ${Object.keys(CUDA_NEEDS).join(', ')} are known`,
  );
}

/** `ml.` of a type of SageMaker; types of EC2 have none. */
function prefixOf(instanceType: string): string {
  return instanceType.startsWith('ml.') ? 'ml.' : '';
}

/** Refuses an image on an instance whose processor or accelerator it has no code for. */
export function checkPlatform(
  where: Where,
  prop: string,
  instanceType: string,
  family: InstanceFamily,
  image: ImagePlatform,
): void {
  const architecture = family.architecture ?? 'x86_64';
  const prefix = prefixOf(instanceType);
  if (architecture !== image.architecture) {
    const fix =
      architecture === 'arm64'
        ? "Use an 'in-process' image built for arm64 (TensorFlow Serving is published for x86-64 alone), or choose an instance type of x86-64"
        : "Choose an instance type of the image's architecture, or an image for x86-64";
    invalidProp(
      where,
      prop,
      `${instanceType} is ${architecture} and the image is ${image.architecture}`,
      fix,
    );
  }
  if (family.otherAccelerator) {
    const problem = `TensorFlow Serving cannot use the ${family.otherAccelerator} of ${instanceType}`;
    invalidProp(
      where,
      prop,
      problem,
      `Choose a CPU or NVIDIA GPU type such as ${prefix}g4dn.xlarge`,
    );
  }
  if (image.accelerator === 'gpu' && !family.gpu) {
    invalidProp(
      where,
      prop,
      `${instanceType} has no GPU and the image is built for one`,
      `Choose a GPU type such as ${prefix}g4dn.xlarge, or a 'cpu' image`,
    );
  }
}

/**
 * Refuses a GPU that an image's CUDA no longer supports.
 * @returns what the CUDA needs
 */
export function checkGpu(
  where: Where,
  prop: string,
  instanceType: string,
  gpu: NonNullable<InstanceFamily['gpu']>,
  { cuda }: ImagePlatform,
) {
  const needs = needsOf(where, prop, cuda);
  if (gpu.computeCapability < needs.computeCapability) {
    const problem = `CUDA ${cuda} no longer supports the ${gpu.name} of ${instanceType} (compute capability ${gpu.computeCapability.toFixed(1)}, needs ${needs.computeCapability.toFixed(1)})`;
    invalidProp(where, prop, problem, 'Choose a newer GPU type, or an image on an older CUDA');
  }
  return needs;
}

/** Warns of a GPU that is paid for and not used. */
export function warnOfIdleGpu(
  scope: Construct,
  prop: string,
  instanceType: string,
  variant: ServingImageVariant,
): void {
  Annotations.of(scope).addWarningV2(
    '@sagemaker-tfs/cdk:idleGpu',
    `${prop}: ${instanceType} has a GPU that the '${variant}' image does not use. Use a 'gpu' or 'in-process-gpu' image, or a CPU type such as ${prefixOf(instanceType)}c6i.xlarge`,
  );
}
