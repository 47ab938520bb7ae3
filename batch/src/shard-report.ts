/** What the shard function writes down about a shard, and `batch watch` reads. */
import * as z from 'zod';

/** State of a shard. */
export const shardReportSchema = z.object({
  /** Each input is counted once below, those that are deleted too. */
  inputs: z.number(),
  /** With an output that counts. */
  done: z.number(),
  /** Without one, and worth a job. */
  missing: z.number(),
  /** Without one, and no job could make one: empty, too large, or with too long a key. */
  refused: z.number(),
  /** No longer there; they are no inputs any more. */
  deleted: z.number(),
  prefix: z.string(),
  /** Manifest of the missing inputs. */
  manifestUri: z.string().optional(),
  /** One JSON object a line, `{key, reason, code?, status?}`, of the refused inputs and of those that a job has left. */
  lettersUri: z.string().optional(),
  /** Why the last job left them; absent before the first. */
  reason: z.string().optional(),
  /** Missing inputs by the code of their own error, where the job's log has one. */
  codes: z.record(z.string(), z.number()).optional(),
  /** Why that log was not read to its end; absent if it was. */
  logCut: z.string().optional(),
  /** True if nothing has happened since it was written. */
  last: z.boolean(),
});
export type ShardReport = z.output<typeof shardReportSchema>;

/** A shard's inputs by what became of them. */
export type ShardCounts = Pick<ShardReport, 'inputs' | 'done' | 'missing' | 'refused' | 'deleted'>;
