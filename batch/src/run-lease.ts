/** The lease of an output prefix: the execution or the job that alone may write below it. */
import * as z from 'zod';

/** Name of the file, below the folder of the runs. */
export const RUN_LEASE = 'lease.json';

/** A job of SageMaker that no state machine has started. */
export interface LeaseJob {
  readonly type: 'transform' | 'processing';
  readonly name: string;
  readonly region: string;
  /** Identifies the command that starts the job: a write whose answer was lost is known by it. */
  readonly start: string;
}

/** Who holds a lease: one of the two. */
export interface RunLease {
  /** ARN of the execution. */
  readonly execution?: string | undefined;
  readonly job?: LeaseJob | undefined;
  /** Differs with each time that an execution takes or confirms it, so that the ETag does too: of equal bytes it is equal. */
  readonly write?: string | undefined;
  /** By the holder, at its end, if no job of it is left; a job returns no lease. */
  readonly returned: boolean;
}

const leaseSchema = z
  .object({
    execution: z.string().optional(),
    // Releases that know executions alone take over a lease without one.
    job: z
      .object({
        type: z.enum(['transform', 'processing']),
        name: z.string(),
        region: z.string(),
        start: z.string(),
      })
      .optional(),
    write: z.string().optional(),
    returned: z.boolean().default(false),
  })
  .refine(({ execution, job }) => execution !== undefined || job !== undefined);

/** @returns the holder; undefined for a text that is no lease */
export function parseRunLease(text: string): RunLease | undefined {
  try {
    return leaseSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** The holder as messages name it. */
export function holderOf({ execution, job }: Omit<RunLease, 'returned'>): string {
  return execution ?? `the ${JOB_TYPES[job?.type ?? 'transform']} ${job?.name}`;
}

/**
 * Jobs that an execution has left behind, as messages name them.
 * @param jobs one or more names
 */
export function jobsLeftBy(execution: string, [first, ...more]: readonly string[]): string {
  const others = more.length > 0 ? ` and ${more.length} more` : '';
  return `the transform job ${first}${others} of ${execution}, which has ended`;
}

const JOB_TYPES = { transform: 'transform job', processing: 'Processing job' } as const;

/** The lease is written before the job is made: one that is younger, milliseconds, may be of a job that is still to come. */
export const JOB_TO_COME = 300_000;

/** Words by which SageMaker says that it has no such job, a pattern of JavaScript and of JSONata without regard to case. */
export const NO_SUCH_JOB = 'could not find|ResourceNotFound|not found';
