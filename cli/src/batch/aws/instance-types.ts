/** Instance types of a job, tried in turn. */
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import { CommandError } from '../../errors.ts';
import { hasNoCapacity } from './await-instances.ts';

/** What a job runs on. */
export interface JobInstances {
  readonly instanceType: string;
  /** Host image; SageMaker chooses if there is none. */
  readonly transformAmiVersion?: string | undefined;
}

/** What SageMaker says of a type that it does not offer, or has no instance of. */
const REFUSED = /instance ?type|capacity/i;

/**
 * Whether CreateTransformJob refuses the type, and not the job: ResourceLimitExceeded is a quota too small or full.
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTransformJob.html
 */
function isTypeRefused(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  // Of what is ours, no other type mends the rest.
  if (error instanceof CommandError) return hasNoCapacity(error);
  return error.name === 'ResourceLimitExceeded' || REFUSED.test(error.message);
}

/**
 * Creates a job on the first of the types that SageMaker takes; `create` may wait for its instances.
 * @returns that type
 * @throws what `create` throws for other reasons, or where there is one type
 * @throws CommandError INSTANCE_TYPES_REFUSED, caused by the last refusal
 */
export async function onFirstType(
  types: readonly JobInstances[],
  create: (instances: JobInstances) => Promise<unknown>,
): Promise<string> {
  const refusals: string[] = [];
  let cause: unknown;
  for (const instances of types) {
    try {
      await create(instances);
      return instances.instanceType;
    } catch (error) {
      const isLate = hasNoCapacity(error);
      if (!isTypeRefused(error) || (types.length === 1 && !isLate)) throw error;
      refusals.push(`${instances.instanceType}: ${error.message}`);
      cause = error;
    }
  }
  throw new CommandError(
    'INSTANCE_TYPES_REFUSED',
    `SageMaker refuses a job on each of these instance types, or has none. ${refusals.map(sentence).join(' ')} Ask for a quota of the type for such jobs, or give another --instance-type.`,
    { cause },
  );
}
