import type { Command } from 'commander';
import { addBatchAws } from './batch-aws.ts';
import { addBatchLocal } from './batch-local.ts';
import { addBatchProbe } from './batch-probe.ts';
import { addBatchSample } from './batch-sample.ts';
import { addBatchShards } from './batch-shards.ts';
import { addBatchStart } from './batch-start.ts';
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
  addBatchAws(batch);
  addBatchWorker(batch);
}
