/** What instances of EC2 have: AWS Batch starts types that SageMaker does not know. */

import { vcpusOf } from '@sagemaker-tfs/batch/instance-types';
import { Size } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { INSTANCE_FAMILIES, type InstanceFamily } from '../instance-types/index.ts';
import { typesThere } from './ec2-regions.ts';
import type { BatchWorkerProps } from './props.ts';

/** Defaults that the construct shares with its checks. */
export const WORKER_VCPUS = 4;
export const WORKER_MEMORY = Size.gibibytes(12);
/** The first three that the region has are taken. */
export const DEFAULT_TYPES = {
  gpu: ['g4dn.xlarge', 'g5.xlarge', 'g6.xlarge'],
  x86_64: ['m6i.xlarge', 'm6a.xlarge', 'm7i.xlarge', 'm5.xlarge'],
  arm64: ['m6g.xlarge', 'm7g.xlarge', 'm8g.xlarge'],
} as const;

/** Where the region is not known: what most of them have. */
export const DEFAULT_TYPES_ANYWHERE = {
  gpu: ['g4dn.xlarge', 'g5.xlarge'],
  x86_64: ['m6i.xlarge', 'm7i.xlarge'],
  arm64: ['m6g.xlarge', 'm7g.xlarge'],
} as const;

/** Types of a spot pool that is not easily empty. */
const MOST_DEFAULTS = 3;

/** Types that AWS Batch may start. */
export function typesOf(scope: Construct, props: BatchWorkerProps): readonly string[] {
  const { accelerator, architecture } = props.model.image.platform;
  const kind = accelerator === 'gpu' ? 'gpu' : architecture;
  return (
    props.instanceTypes ??
    typesThere(scope, DEFAULT_TYPES[kind], DEFAULT_TYPES_ANYWHERE[kind], MOST_DEFAULTS)
  );
}

/**
 * vCPUs that a worker may keep busy. AWS Batch counts those of whole instances against its limit, and an instance may
 * hold one worker only: the rest of its vCPUs, its memory or its GPU is too small for another.
 */
export function mostVcpus(types: readonly string[], ofWorker: number): number {
  return Math.max(ofWorker, ...types.map((type) => vcpusOf(type) ?? 0));
}

const NVIDIA = (name: string, computeCapability: number) => ({
  sizes: [],
  gpu: { name, computeCapability },
});

/** Families with accelerators that are of EC2 alone. */
const OF_EC2: Readonly<Record<string, InstanceFamily>> = {
  g2: NVIDIA('K520', 3.0),
  g3: NVIDIA('M60', 5.2),
  g3s: NVIDIA('M60', 5.2),
  g4ad: { sizes: [], otherAccelerator: 'AMD Radeon' },
  g5g: { ...NVIDIA('T4G', 7.5), architecture: 'arm64' },
  g6f: NVIDIA('L4', 8.9),
  gr6: NVIDIA('L4', 8.9),
  gr6f: NVIDIA('L4', 8.9),
  p3dn: NVIDIA('V100', 7.0),
};

/** `m7g`, `c8gn`, `im4gn`: a `g` among the letters behind the generation; and the first, `a1`. */
const GRAVITON = /^(?:a1|[a-z]+\d+[a-z]*g[a-z]*)$/;

/**
 * What the image has to suit, by the type's name.
 * @see https://docs.aws.amazon.com/ec2/latest/instancetypes/instance-type-names.html
 */
export function ec2Family(type: string): InstanceFamily {
  const name = type.split('.')[0] ?? '';
  const known = INSTANCE_FAMILIES[name] ?? OF_EC2[name];
  return known ?? { sizes: [], ...(GRAVITON.test(name) && { architecture: 'arm64' }) };
}
