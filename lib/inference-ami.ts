/**
 * Which host image (and so which NVIDIA driver) an instance gets. SageMaker's default for ml.g4dn and
 * ml.p3 is older than the CUDA of today's TensorFlow Serving images: left unset, the model falls back
 * to the CPU or never starts.
 */
import { PREFERRED_TRANSFORM_AMIS, TRANSFORM_AMI_DRIVERS } from '@sagemaker-tfs/batch/ami';
import { Token } from 'aws-cdk-lib/core';
import { type InstanceFamily, type InstanceUse, instanceFamily } from './instance-types/index.ts';
import { invalidProp, type Where } from './validation.ts';

/** The properties of a serving image that decide on which hosts it runs. */
export interface ImagePlatform {
  readonly accelerator: 'cpu' | 'gpu';
  /** CUDA version that the image is built on, `12.5`; only with `gpu`. */
  readonly cuda?: string;
  readonly architecture: 'x86_64' | 'arm64';
}

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

/** The last driver branch for Kepler GPUs, and the first for Blackwell's. */
const LAST_KEPLER_DRIVER = 470;
const FIRST_BLACKWELL_DRIVER = 570;

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

/** Refuses an image on an instance whose processor or accelerator it has no code for. */
function checkPlatform(
  where: Where,
  prop: string,
  instanceType: string,
  family: InstanceFamily,
  image: ImagePlatform,
): void {
  const architecture = family.architecture ?? 'x86_64';
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
    invalidProp(where, prop, problem, 'Choose a CPU or NVIDIA GPU type such as ml.g4dn.xlarge');
  }
  if (image.accelerator === 'gpu' && !family.gpu) {
    invalidProp(
      where,
      prop,
      `${instanceType} has no GPU and the image is built for one`,
      `Choose a GPU type such as ml.g4dn.xlarge, or a 'cpu' image`,
    );
  }
}

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
  const needs = needsOf(where, prop, image.cuda);
  const gpu = family.gpu;
  if (gpu.computeCapability < needs.computeCapability) {
    const problem = `CUDA ${image.cuda} no longer supports the ${gpu.name} of ${instanceType} (compute capability ${gpu.computeCapability.toFixed(1)}, needs ${needs.computeCapability.toFixed(1)})`;
    invalidProp(where, prop, problem, 'Choose a newer GPU type, or an image on an older CUDA');
  }
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
