/**
 * The form of instance types, and those to try in turn. AWS asked EC2's users of P3 to leave by 20 December 2025 and gave no date for
 * SageMaker, so ml.p3 may be refused, or without capacity, at any time.
 * @see https://aws.amazon.com/ec2/instance-types/p3/
 */

/** The form of an instance type, as a regular expression. */
export const INSTANCE_TYPE = '^ml[.][a-z0-9-]+[.][a-z0-9]+$';

/** The first choice of transform jobs. */
export const FIRST_TRANSFORM_TYPE = 'ml.p3.2xlarge';

/** What runs the same GPU images where there is no ml.p3: larger first. */
const IN_PLACE_OF_P3 = ['ml.g5.2xlarge', 'ml.g4dn.xlarge'] as const;

/** Types to continue with where `instanceType` cannot be had; none for types that are not on their way out. */
export function fallbackTypes(instanceType: string): readonly string[] {
  return instanceType.startsWith('ml.p3.') ? IN_PLACE_OF_P3 : [];
}

/**
 * Families whose instances bring their own NVMe disks: SageMaker takes neither a volume size nor a KMS key
 * for them (API reference of CreateEndpointConfig, KmsKeyId).
 */
export const LOCAL_STORAGE_FAMILIES: ReadonlySet<string> = new Set(
  `m5d c5d r5d c6gd m6gd r6gd r7gd g4dn g5 g6 g6e g7 g7e p4d p4de p5 p5e p5en p6-b200 p6-b300
  p6e-gb200 trn1 trn1n trn2 dl1`.split(/\s+/),
);

/** Whether instances of a type bring their own disks. */
export function hasLocalStorage(instanceType: string): boolean {
  return LOCAL_STORAGE_FAMILIES.has(instanceType.split('.')[1] ?? '');
}

/** `xlarge`, `16xlarge`, `metal-48xl`. */
const IN_XLARGE = /\.(?:metal-)?(\d*)xl(?:arge)?$/;
/** @see https://docs.aws.amazon.com/ec2/latest/instancetypes/co.html (and gp, mo, ac) */
const VCPUS_OF_XLARGE = 4;

/** Of these an xlarge has two: they are old, or their processors run one thread a core. */
const HALF = /^(?:m2|hpc\d+(?:a|id))\./;
const NOT_BY_NAME: Readonly<Record<string, number>> = {
  'c1.xlarge': 8,
  'c4.8xlarge': 36,
  'd2.8xlarge': 36,
};

/**
 * vCPUs, read from the type's name, with or without `ml.`.
 * @returns undefined for a name that does not tell, such as `c7i.metal`
 */
export function vcpusOf(type: string): number | undefined {
  const name = ec2Name(type);
  const size = IN_XLARGE.exec(name)?.[1];
  if (size === undefined) return name.endsWith('.large') ? VCPUS_OF_XLARGE / 2 : undefined;
  const ofXlarge = HALF.test(name) ? VCPUS_OF_XLARGE / 2 : VCPUS_OF_XLARGE;
  return NOT_BY_NAME[name] ?? ofXlarge * Number(size || 1);
}

/** The type without `ml.`, as EC2 names it. */
export function ec2Name(type: string): string {
  return type.replace(/^ml\./, '');
}
