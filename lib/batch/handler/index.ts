/** The function behind a sharded batch transform. */
import { S3Client } from '@aws-sdk/client-s3';
import type { TransformSettings } from '@sagemaker-tfs/batch/settings';
import { findPending, type PendingResult } from './pending.ts';
import { type PlanPosition, type PlanResult, planShards } from './plan.ts';
import { type Summary, summarizeRun } from './summary.ts';

/** What the state machine asks. */
export type ShardRequest =
  | {
      readonly action: 'plan';
      readonly settings: TransformSettings;
      readonly position?: PlanPosition;
    }
  | {
      readonly action: 'pending';
      readonly settings: TransformSettings;
      readonly shard: string;
      readonly reason?: string;
    }
  | { readonly action: 'summary'; readonly settings: TransformSettings };

/** Kept back for writing the last shard, milliseconds. */
const RESERVE_MS = 60_000;

/** Lambda's entry. */
export async function handler(
  request: ShardRequest,
  context: { getRemainingTimeInMillis(): number },
): Promise<PlanResult | PendingResult | Summary> {
  const s3 = new S3Client({});
  try {
    switch (request.action) {
      case 'plan':
        return await planShards(
          s3,
          request.settings,
          request.position,
          () => context.getRemainingTimeInMillis() < RESERVE_MS,
        );
      case 'pending':
        return await findPending(s3, request.settings, request.shard, request.reason);
      case 'summary':
        return await summarizeRun(s3, request.settings);
    }
  } finally {
    s3.destroy();
  }
}
