/** The function behind a batch transform. */
import { S3Client } from '@aws-sdk/client-s3';
import type { TransformSettings } from '@sagemaker-tfs/batch/settings';
import { type BeginRequest, type BeginResult, beginRun } from './begin.ts';
import { findPending, type PendingRequest, type PendingResult } from './pending.ts';
import { type PlanPosition, type PlanResult, planShards } from './plan.ts';
import { countProgress, type ProgressRequest, type ProgressResult } from './progress.ts';
import { type StopReason, type StopRequest, stopRun, type WhyRequest, whyStopped } from './stop.ts';
import { type Summary, type SummaryRequest, summarizeRun } from './summary.ts';

/** What the state machine asks. */
export type ShardRequest =
  | ({ readonly action: 'begin' } & BeginRequest)
  | {
      readonly action: 'plan';
      readonly settings: TransformSettings;
      readonly position?: PlanPosition;
    }
  | ({ readonly action: 'pending' } & PendingRequest)
  | ({ readonly action: 'progress' } & ProgressRequest)
  | ({ readonly action: 'summary' } & SummaryRequest)
  | ({ readonly action: 'stop' } & StopRequest)
  | ({ readonly action: 'why' } & WhyRequest);

/** Kept back for writing what was found, milliseconds. */
const RESERVE_MS = 60_000;

/** Lambda's entry. */
export async function handler(
  request: ShardRequest,
  context: { getRemainingTimeInMillis(): number },
): Promise<BeginResult | PlanResult | PendingResult | ProgressResult | Summary | StopReason> {
  const s3 = new S3Client({});
  const outOfTime = () => context.getRemainingTimeInMillis() < RESERVE_MS;
  try {
    switch (request.action) {
      case 'begin':
        return await beginRun(s3, request);
      case 'plan':
        return await planShards(s3, request.settings, request.position, outOfTime);
      case 'pending':
        return await findPending(s3, request, outOfTime);
      case 'progress':
        return await countProgress(s3, request);
      case 'summary':
        return await summarizeRun(s3, request, outOfTime);
      case 'stop':
        return await stopRun(s3, request);
      case 'why':
        return await whyStopped(s3, request);
    }
  } finally {
    s3.destroy();
  }
}
