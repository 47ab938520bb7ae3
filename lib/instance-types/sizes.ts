/**
 * vCPUs and memory of an instance, as far as its type's name tells.
 * @see https://docs.aws.amazon.com/ec2/latest/instancetypes/co.html (and gp, mo, ac)
 */
import { ec2Name, vcpusOf } from '@sagemaker-tfs/batch/instance-types';

/** GiB of memory of a vCPU: families in which it is the same for every size. Of others nothing is refused. */
const MEMORY_OF_VCPU: readonly (readonly [gib: number, families: ReadonlySet<string>])[] = [
  [2, families('c5 c5a c5ad c5d c6a c6g c6gd c6gn c6i c6id c6in c7a c7g c7gd c7gn c7i c7i-flex')],
  [2, families('c8a c8g c8gb c8gd c8gn c8i c8i-flex c8ib c8id c8in g5g inf1')],
  [4, families('m4 m5 m5a m5ad m5d m5dn m5n m5zn m6a m6g m6gd m6i m6id m6idn m6in')],
  [4, families('m7a m7g m7gd m7i m7i-flex m8a m8azn m8g m8gb m8gd m8gn m8i m8i-flex m8id')],
  [4, families('g4dn g5 g6 g6f g7 inf2 trn1 trn1n')],
  [8, families('r5 r5a r5ad r5b r5d r5dn r5n r6a r6g r6gd r6i r6id r6idn r6in')],
  [8, families('r7a r7g r7gd r7i r7iz r8a r8g r8gb r8gd r8gn r8i r8i-flex r8id g6e gr6 gr6f p3dn')],
  [12, families('p4d p4de')],
  [16, families('x2gd x2idn x8g')],
  [32, families('x2iedn x2iezn')],
];

function families(names: string): ReadonlySet<string> {
  return new Set(names.split(' '));
}

interface InstanceSize {
  readonly vcpus: number;
  readonly memoryGiB: number;
}

/** What is certain of a type. */
function knownSize(type: string): InstanceSize | undefined {
  const [family = ''] = ec2Name(type).split('.');
  const vcpus = vcpusOf(type);
  const gib = MEMORY_OF_VCPU.find(([, names]) => names.has(family))?.[0];
  return vcpus && gib ? { vcpus, memoryGiB: vcpus * gib } : undefined;
}

/**
 * Whether an instance may hold what needs this much. Of its memory some is the system's, so it holds nothing that needs all
 * of it.
 * @returns true where the type's size is not certain
 * @see https://docs.aws.amazon.com/batch/latest/userguide/memory-management.html
 */
export function mayHold(type: string, vcpus: number, memoryGiB: number): boolean {
  const size = knownSize(type);
  return !size || (vcpus <= size.vcpus && memoryGiB < size.memoryGiB);
}

/** vCPUs and memory of a type as a message names them. */
export function sizeOf(type: string): string {
  const size = knownSize(type);
  return size ? `${type} has ${size.vcpus} vCPUs and ${size.memoryGiB} GiB` : type;
}
