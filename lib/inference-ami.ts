/**
 * Which host image (and so which NVIDIA driver) an instance gets. SageMaker's default for ml.g4dn and
 * ml.p3 is older than the CUDA of today's TensorFlow Serving images: left unset, the model falls back
 * to the CPU or never starts.
 */
import { PREFERRED_TRANSFORM_AMIS, TRANSFORM_AMI_DRIVERS } from '@sagemaker-tfs/batch/ami';
import { Token } from 'aws-cdk-lib/core';
import { checkGpu, checkPlatform, type ImagePlatform } from './image-platform.ts';
import { type InstanceUse, instanceFamily } from './instance-types/index.ts';
import { invalidProp, type Where } from './validation.ts';

/**
 * NVIDIA driver branch of each host image, from the API reference of `ProductionVariant` and
 * `TransformResources`. Of two that would do, the choice below takes the newer; `-2-1`, `-3-1` and
 * `-4-1` do not mount the image's CUDA compatibility libraries over the host's driver.
 */
export const AMI_DRIVERS: Readonly<Record<InstanceUse, Readonly<Record<string, number>>>> = {
  endpoint: {
    'al2-ami-sagemaker-inference-gpu-2': 535,
    'al2-ami-sagemaker-inference-gpu-2-1': 535,
    'al2-ami-sagemaker-inference-gpu-3-1': 550,
    'al2023-ami-sagemaker-inference-gpu-4-1': 580,
  },
  transform: TRANSFORM_AMI_DRIVERS,
};

/** The last driver branch for Kepler GPUs, and the first for Blackwell's. */
const LAST_KEPLER_DRIVER = 470;
const FIRST_BLACKWELL_DRIVER = 570;

/** Drivers that run this GPU at all. */
function driverRunsGpu(driver: number, computeCapability: number): boolean {
  if (computeCapability < 5) return driver <= LAST_KEPLER_DRIVER;
  if (computeCapability >= 10) return driver >= FIRST_BLACKWELL_DRIVER;
  return true;
}

/** Newest of the images that suit, but none newer than needed for a GPU older than Blackwell: 550. */
const PREFERRED: Readonly<Record<InstanceUse, readonly string[]>> = {
  endpoint: ['al2-ami-sagemaker-inference-gpu-3-1', 'al2023-ami-sagemaker-inference-gpu-4-1'],
  transform: PREFERRED_TRANSFORM_AMIS,
};

/**
 * The host image for an instance type and a serving image.
 * @param prop the prop that gave the instance type, for messages
 * @param chosen an image that the user chose; checked, then returned
 * @returns undefined if SageMaker's default is right: CPU images, and instance types known only at
 *   deployment
 * @throws if the pair cannot work
 */
export function chooseAmi(
  where: Where,
  prop: string,
  use: InstanceUse,
  instanceType: string,
  image: ImagePlatform,
  chosen?: string,
): string | undefined {
  const family = instanceFamily(where, prop, instanceType, use);
  if (!family) return chosen;
  checkPlatform(where, prop, instanceType, family, image);
  if (image.accelerator === 'cpu' || !family.gpu) return chosen;
  const { gpu } = family;
  const needs = checkGpu(where, prop, instanceType, gpu, image);
  const suits = (name: string) => {
    const driver = AMI_DRIVERS[use][name];
    if (driver === undefined) return true;
    return driver >= needs.driver && driverRunsGpu(driver, gpu.computeCapability);
  };
  if (chosen !== undefined) {
    if (!Token.isUnresolved(chosen) && !suits(chosen)) {
      const problem = `${chosen} (driver ${AMI_DRIVERS[use][chosen]}) cannot run CUDA ${image.cuda} on ${instanceType}`;
      invalidProp(where, prop, problem, 'Leave the AMI version out to have one chosen');
    }
    return chosen;
  }
  const ami = PREFERRED[use].find(suits);
  // Kepler endpoints with CUDA 11: SageMaker's default host has a driver of that age.
  if (ami || gpu.computeCapability < 5) return ami;
  return invalidProp(
    where,
    prop,
    `no host image for ${use === 'endpoint' ? 'endpoints' : 'transform jobs'} has a driver for CUDA ${image.cuda} (needs ${needs.driver})`,
    'Use an image on an older CUDA',
  );
}
