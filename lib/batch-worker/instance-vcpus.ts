/** How many vCPUs instances of EC2 have. */

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
