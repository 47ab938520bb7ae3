/** What instances of EC2 have: AWS Batch starts types that SageMaker does not know. */
import { Size } from 'aws-cdk-lib/core';
import { INSTANCE_FAMILIES, type InstanceFamily } from '../instance-types/index.ts';
import type { BatchWorkerProps } from './props.ts';

/** Defaults that the construct shares with its checks. */
export const WORKER_VCPUS = 4;
export const WORKER_MEMORY = Size.gibibytes(12);
const DEFAULT_TYPES = {
  gpu: ['g4dn.xlarge', 'g5.xlarge', 'g6.xlarge'],
  x86_64: ['m6i.xlarge', 'm6a.xlarge', 'm7i.xlarge'],
  arm64: ['m6g.xlarge', 'm7g.xlarge', 'm8g.xlarge'],
} as const;

/** Types that AWS Batch may start. */
export function typesOf({ model, instanceTypes }: BatchWorkerProps): readonly string[] {
  const { accelerator, architecture } = model.image.platform;
  return instanceTypes ?? DEFAULT_TYPES[accelerator === 'gpu' ? 'gpu' : architecture];
}

/** `xlarge`, `16xlarge`, `metal-48xl`. */
const IN_XLARGE = /\.(?:metal-)?(\d*)xl(?:arge)?$/;
const VCPUS_OF_XLARGE = 4;

/**
 * Read from the type's name.
 * @returns undefined for a name that does not tell, such as `c7i.metal`
 * @see https://docs.aws.amazon.com/ec2/latest/instancetypes/instance-type-names.html
 */
function vcpusOf(type: string): number | undefined {
  const size = IN_XLARGE.exec(type)?.[1];
  if (size !== undefined) return VCPUS_OF_XLARGE * Number(size || 1);
  return type.endsWith('.large') ? VCPUS_OF_XLARGE / 2 : undefined;
}

/**
 * vCPUs that a worker may keep busy. AWS Batch counts those of whole instances against its limit, and an instance may
 * hold one worker only: the rest of its vCPUs, its memory or its GPU is too small for another.
 */
export function mostVcpus(types: readonly string[], ofWorker: number): number {
  return Math.max(ofWorker, ...types.map((type) => vcpusOf(type) ?? 0));
}

/** GiB of memory of a vCPU, rounded up, by what a family's name begins with. */
const MEMORY_OF_VCPU: readonly (readonly [RegExp, number])[] = [
  [/^c[4-9]/, 2],
  [/^(?:m[4-9]|g4dn|g5|g6\b)/, 4],
  [/^(?:r[4-9]|g6e|gr6)/, 8],
];

function memoryOf(type: string): number | undefined {
  const vcpus = vcpusOf(type);
  const each = MEMORY_OF_VCPU.find(([family]) => family.test(type))?.[1];
  return vcpus && each && vcpus * each;
}

/**
 * Whether an instance may hold a worker. Of its memory some is the system's, so it holds none that needs all of it.
 * @returns true where the name does not tell
 * @see https://docs.aws.amazon.com/batch/latest/userguide/memory-management.html
 */
export function mayHold(type: string, vcpus: number, memoryGiB: number): boolean {
  const { POSITIVE_INFINITY } = Number;
  return (
    vcpus <= (vcpusOf(type) ?? POSITIVE_INFINITY) &&
    memoryGiB < (memoryOf(type) ?? POSITIVE_INFINITY)
  );
}

/** vCPUs and memory of a type as a message names them. */
export function sizeOf(type: string): string {
  const memory = memoryOf(type);
  return `${type} has ${vcpusOf(type)} vCPUs${memory ? ` and ${memory} GiB` : ''}`;
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
