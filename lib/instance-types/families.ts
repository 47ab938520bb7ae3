/**
 * The instance families of SageMaker hosting and batch transform. Names and sizes are those of the API's
 * enumerations `ProductionVariantInstanceType` and `TransformInstanceType` (AWS SDK 3.1142); GPUs and
 * compute capabilities are NVIDIA's (https://developer.nvidia.com/cuda-gpus).
 */

/** What the serving image has to suit. */
export interface InstanceFamily {
  /** Sizes offered for endpoints. */
  readonly sizes: readonly string[];
  /** Sizes offered for batch transform jobs; none where absent. */
  readonly transformSizes?: readonly string[];
  /** @default 'x86_64' */
  readonly architecture?: 'arm64';
  /** NVIDIA GPU, where the family has one. */
  readonly gpu?: { readonly name: string; readonly computeCapability: number };
  /** Another accelerator, which TensorFlow Serving cannot use. */
  readonly otherAccelerator?: 'AWS Inferentia' | 'AWS Trainium' | 'Intel Gaudi' | 'AMD Radeon';
}

const sizes = (text: string) => text.split(' ');
const C6 = sizes('large xlarge 2xlarge 4xlarge 8xlarge 12xlarge 16xlarge 24xlarge 32xlarge');
const C7 = sizes('large xlarge 2xlarge 4xlarge 8xlarge 12xlarge 16xlarge 24xlarge 48xlarge');
const M5 = sizes('large xlarge 2xlarge 4xlarge 12xlarge 24xlarge');
const GRAVITON = sizes('large xlarge 2xlarge 4xlarge 8xlarge 12xlarge 16xlarge');
const GRAVITON4 = sizes(
  'medium large xlarge 2xlarge 4xlarge 8xlarge 12xlarge 16xlarge 24xlarge 48xlarge',
);
const G4 = sizes('xlarge 2xlarge 4xlarge 8xlarge 12xlarge 16xlarge');
const G5 = sizes('xlarge 2xlarge 4xlarge 8xlarge 12xlarge 16xlarge 24xlarge 48xlarge');
const G7 = sizes('2xlarge 4xlarge 8xlarge 12xlarge 24xlarge 48xlarge');

const cpu = (offered: readonly string[], transform = true): InstanceFamily => ({
  sizes: offered,
  ...(transform && { transformSizes: offered }),
});
const arm = (offered: readonly string[]): InstanceFamily => ({
  sizes: offered,
  architecture: 'arm64',
});
const gpu = (
  name: string,
  computeCapability: number,
  offered: readonly string[],
  transform: boolean,
): InstanceFamily => ({ ...cpu(offered, transform), gpu: { name, computeCapability } });
const other = (
  otherAccelerator: NonNullable<InstanceFamily['otherAccelerator']>,
  offered: readonly string[],
  transform = false,
): InstanceFamily => ({ ...cpu(offered, transform), otherAccelerator });

/** Families by the middle part of the instance type's name. */
export const INSTANCE_FAMILIES: Readonly<Record<string, InstanceFamily>> = {
  t2: cpu(sizes('medium large xlarge 2xlarge'), false),
  m4: cpu(sizes('xlarge 2xlarge 4xlarge 10xlarge 16xlarge')),
  m5: cpu(M5),
  m5d: cpu(M5, false),
  m6i: cpu(C6),
  m7i: cpu(C7),
  c4: {
    sizes: sizes('large xlarge 2xlarge 4xlarge 8xlarge'),
    transformSizes: sizes('xlarge 2xlarge 4xlarge 8xlarge'),
  },
  c5: {
    sizes: sizes('large xlarge 2xlarge 4xlarge 9xlarge 18xlarge'),
    transformSizes: sizes('xlarge 2xlarge 4xlarge 9xlarge 18xlarge'),
  },
  c5d: cpu(sizes('large xlarge 2xlarge 4xlarge 9xlarge 18xlarge'), false),
  c6i: cpu(C6),
  c6in: cpu(C6, false),
  c7i: cpu(C7),
  r5: cpu(M5, false),
  r5d: cpu(M5, false),
  r6i: cpu(C6),
  r7i: cpu(C7),
  c6g: arm(GRAVITON),
  c6gd: arm(GRAVITON),
  c6gn: arm(GRAVITON),
  c7g: arm(GRAVITON),
  c8g: arm(GRAVITON4),
  m6g: arm(GRAVITON),
  m6gd: arm(GRAVITON),
  m8g: arm(GRAVITON4),
  r6g: arm(GRAVITON),
  r6gd: arm(GRAVITON),
  r7gd: arm(['medium', ...GRAVITON]),
  r8g: arm(GRAVITON4),
  g4dn: gpu('T4', 7.5, G4, true),
  g5: gpu('A10G', 8.6, G5, true),
  g6: gpu('L4', 8.9, G5, true),
  g6e: gpu('L40S', 8.9, G5, true),
  g7: gpu('RTX PRO 4500', 12.0, G7, false),
  g7e: gpu('RTX PRO 6000', 12.0, G7, false),
  p2: gpu('K80', 3.7, sizes('xlarge 8xlarge 16xlarge'), true),
  p3: gpu('V100', 7.0, sizes('2xlarge 8xlarge 16xlarge'), true),
  p4d: gpu('A100', 8.0, ['24xlarge'], false),
  p4de: gpu('A100', 8.0, ['24xlarge'], false),
  p5: gpu('H100', 9.0, sizes('4xlarge 48xlarge'), false),
  p5e: gpu('H200', 9.0, ['48xlarge'], false),
  p5en: gpu('H200', 9.0, ['48xlarge'], false),
  'p6-b200': gpu('B200', 10.0, ['48xlarge'], false),
  'p6-b300': gpu('B300', 10.3, ['48xlarge'], false),
  'p6e-gb200': { ...gpu('GB200', 10.0, ['36xlarge'], false), architecture: 'arm64' },
  inf1: other('AWS Inferentia', sizes('xlarge 2xlarge 6xlarge 24xlarge')),
  inf2: other('AWS Inferentia', sizes('xlarge 8xlarge 24xlarge 48xlarge'), true),
  trn1: other('AWS Trainium', sizes('2xlarge 32xlarge'), true),
  trn1n: other('AWS Trainium', ['32xlarge']),
  trn2: other('AWS Trainium', ['48xlarge']),
  dl1: other('Intel Gaudi', ['24xlarge']),
};
