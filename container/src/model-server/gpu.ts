/** What is known of the machine's GPU before TensorFlow looks for it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Device } from '@sagemaker-tfs/libtensorflow';
import type { Environment } from '../environment.ts';

/** Whether the driver's tools are here, as in every container that was given a GPU. */
export function hasGpu(): boolean {
  return existsSync('/usr/bin/nvidia-smi');
}

/** What is wrong if the library has NVIDIA's beside it, as in the image for GPUs, and TensorFlow found no GPU. */
function missingGpu(library: string, devices: readonly Device[]): string | undefined {
  const isForGpus = existsSync(join(library, '..', 'nvidia'));
  if (!isForGpus || devices.some(({ type }) => type === 'GPU')) return undefined;
  const names = devices.map(({ name }) => name).join(', ');
  const driver = hasGpu() ? "NVIDIA's driver is here" : "NVIDIA's driver is not here";
  return `TensorFlow is built for GPUs and found ${names || 'no device'}; ${driver}. Use an instance type with a GPU and a driver for CUDA 12 (525 or newer), and look at CUDA_VISIBLE_DEVICES.`;
}

/** Says {@link missingGpu} once: it is the same for every model. */
export function missingGpuTeller(
  library: string,
  say: (reason: string) => void,
): (devices: readonly Device[]) => void {
  let isTold = false;
  return (devices) => {
    const missing = isTold ? undefined : missingGpu(library, devices);
    if (missing === undefined) return;
    isTold = true;
    say(missing);
  };
}

/** Settings that change nothing on this machine, each with the reason. */
export function idleSettings({ modelServer }: Environment): string[] {
  if (modelServer.graph.mixedPrecision !== 'float16' || hasGpu()) return [];
  return [
    'SAGEMAKER_TFS_MIXED_PRECISION is "float16", which TensorFlow computes on GPUs only, and there is none here: the models run in their own types. For CPUs there is bfloat16.',
  ];
}
