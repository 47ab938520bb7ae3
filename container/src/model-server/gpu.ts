/** What is known of the machine's GPU before TensorFlow looks for it. */
import { existsSync } from 'node:fs';
import type { Environment } from '../environment.ts';

/** Whether the driver's tools are here, as in every container that was given a GPU. */
export function hasGpu(): boolean {
  return existsSync('/usr/bin/nvidia-smi');
}

/** Settings that change nothing on this machine, each with the reason. */
export function idleSettings({ modelServer }: Environment): string[] {
  if (modelServer.graph.mixedPrecision !== 'float16' || hasGpu()) return [];
  return [
    'SAGEMAKER_TFS_MIXED_PRECISION is "float16", which TensorFlow computes on GPUs only, and there is none here: the models run in their own types. For CPUs there is bfloat16.',
  ];
}
