/**
 * Creates a job of SageMaker once. The calls have no token for it: the SDK sends one again whose answer was lost, and
 * SageMaker then refuses the name that the first one has taken.
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTransformJob.html
 */
import { httpStatusOf } from '@sagemaker-tfs/batch/s3';
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import { CommandError } from '../../errors.ts';
import { hasNoCapacity, isNotWatched } from './await-instances.ts';
import { CLOCKS } from './clocks.ts';
import { isUnknownJob } from './described-job.ts';

/** A job to create. */
interface JobToCreate {
  readonly name: string;
  create(): Promise<unknown>;
  /** The job of that name. */
  describe(): Promise<FoundJob>;
}

/** The job that has the name. */
interface FoundJob {
  readonly createdAt: Date | undefined;
  /** Whether it does what was asked for. */
  readonly isSame: boolean;
}

/**
 * Returns when the job is there. A refusal that may be of its own repeated call is checked against the job.
 * @throws what `create` throws, if that made no job
 * @throws CommandError JOB_NOT_WATCHED if it may have made one, and that cannot be seen
 */
export async function createJob({ name, create, describe }: JobToCreate): Promise<void> {
  const since = Date.now() - CLOCKS;
  try {
    await create();
  } catch (error) {
    if (!mayHaveMade(error)) throw error;
    const found = await describe().catch((problem: Error) => {
      if (!isUnknownJob(problem)) throw unseen(name, error, problem);
      return undefined;
    });
    if (!found?.isSame || (found.createdAt?.getTime() ?? 0) < since) throw error;
  }
}

/** Whether a call may have made the job: it was sent more than once, or SageMaker did not refuse it. */
function mayHaveMade(error: unknown): boolean {
  const { attempts = 1 } =
    (error as { readonly $metadata?: { readonly attempts?: number } } | undefined)?.$metadata ?? {};
  const status = httpStatusOf(error) ?? 0;
  return attempts > 1 || status < 400 || status >= 500;
}

function unseen(name: string, cause: unknown, problem: Error): CommandError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new CommandError(
    'JOB_NOT_WATCHED',
    `the answer of AWS was lost, so the job ${name} may have been made: ${sentence(reason)} It cannot be looked at: ${sentence(problem.message)} See in SageMaker's console whether it runs before you start another.`,
    { cause },
  );
}

/** True if it is certain that no job was made, or none that made anything. */
export function isRefusal(error: unknown): boolean {
  if (isNotWatched(error)) return false;
  const refusal = error instanceof CommandError ? error.cause : error;
  if (hasNoCapacity(refusal)) return true;
  const status = httpStatusOf(refusal) ?? 0;
  return status >= 400 && status < 500;
}
