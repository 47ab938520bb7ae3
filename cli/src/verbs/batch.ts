import type { Command } from 'commander';
import { addBatchFetch } from './batch-fetch.ts';
import { addBatchLocal } from './batch-local.ts';
import { addBatchProbe } from './batch-probe.ts';
import { addBatchSample } from './batch-sample.ts';
import { addBatchShards } from './batch-shards.ts';
import { addBatchStart } from './batch-start.ts';
import { addBatchStop } from './batch-stop.ts';
import { addBatchVerify } from './batch-verify.ts';
import { addBatchWatch } from './batch-watch.ts';
import { addBatchWorker } from './batch-worker.ts';

/** `batch`: batch inference, on this machine or as SageMaker transform jobs. */
export function addBatch(program: Command): void {
  const batch = program
    .command('batch')
    .description('batch inference over a folder or an S3 prefix');
  batch.exitOverride();
  addBatchLocal(batch);
  addBatchShards(batch);
  addBatchStart(batch);
  addBatchSample(batch);
  addBatchProbe(batch);
  addBatchWatch(batch);
  addBatchVerify(batch);
  addBatchFetch(batch);
  addBatchStop(batch);
  addBatchWorker(batch);
}
