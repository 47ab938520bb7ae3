/** The lease of an output prefix: the execution that alone may write below it. */
import * as z from 'zod';

/** Name of the file, below the folder of the runs. */
export const RUN_LEASE = 'lease.json';

/** Who holds a lease. */
export interface RunLease {
  /** ARN of the execution. */
  readonly execution: string;
  /** By the holder, at its end. */
  readonly returned: boolean;
}

const leaseSchema = z.object({ execution: z.string(), returned: z.boolean().default(false) });

/** @returns the holder; undefined for a text that is no lease */
export function parseRunLease(text: string): RunLease | undefined {
  try {
    return leaseSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
