/** vCPUs and memory of an instance, as far as its type's name tells. */

/** `xlarge`, `16xlarge`, `metal-48xl`. */
const IN_XLARGE = /\.(?:metal-)?(\d*)xl(?:arge)?$/;
const VCPUS_OF_XLARGE = 4;

/**
 * vCPUs, read from the type's name, with or without `ml.`.
 * @returns undefined for a name that does not tell, such as `c7i.metal`
 * @see https://docs.aws.amazon.com/ec2/latest/instancetypes/instance-type-names.html
 */
export function vcpusOf(type: string): number | undefined {
  const size = IN_XLARGE.exec(type)?.[1];
  if (size !== undefined) return VCPUS_OF_XLARGE * Number(size || 1);
  return type.endsWith('.large') ? VCPUS_OF_XLARGE / 2 : undefined;
}

/** GiB of memory of a vCPU, rounded up, by what a family's name begins with. */
const MEMORY_OF_VCPU: readonly (readonly [RegExp, number])[] = [
  [/^c[4-9]/, 2],
  [/^(?:m[4-9]|g4dn|g5|g6\b)/, 4],
  [/^(?:r[4-9]|g6e|gr6)/, 8],
];

function memoryOf(type: string): number | undefined {
  const vcpus = vcpusOf(type);
  const name = type.replace(/^ml\./, '');
  const each = MEMORY_OF_VCPU.find(([family]) => family.test(name))?.[1];
  return vcpus && each && vcpus * each;
}

/**
 * Whether an instance may hold what needs this much. Of its memory some is the system's, so it holds nothing that needs all
 * of it.
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
