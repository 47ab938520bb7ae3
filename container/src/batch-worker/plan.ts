/** The plan of a run: made by the worker that comes first, kept by all others. */
import type { S3Client } from '@aws-sdk/client-s3';
import {
  BatchError,
  inputsOf,
  originOf,
  PLAN_KEY,
  parsePlan,
  sortedCuts,
  type WorkerPlan,
} from '@sagemaker-tfs/batch';
import { keyRanges } from '@sagemaker-tfs/batch/s3';
import type { WorkerOptions } from './options.ts';
import type { Store } from './store.ts';

/**
 * The plan below the output prefix, made where there is none.
 * @param model changes with the model
 * @throws BatchError OTHER_RUN where the answers there are of another model or other settings
 */
export async function openPlan(
  s3: S3Client,
  store: Store,
  options: WorkerOptions,
  model: string,
): Promise<WorkerPlan> {
  const there = await readPlan(store, options);
  if (there) return checked(there, options, model);
  const own = await makePlan(s3, options, model);
  const text = Buffer.from(JSON.stringify(own));
  if (await store.create(PLAN_KEY, text, 'application/json')) return own;
  // Another worker was faster; its cuts may differ where inputs came meanwhile.
  const first = await readPlan(store, options);
  return checked(first ?? own, options, model);
}

async function readPlan(store: Store, { outputUri }: WorkerOptions) {
  const text = await store.read(PLAN_KEY);
  return text && parsePlan(text.toString('utf8'), `${outputUri}: ${PLAN_KEY}`);
}

async function makePlan(s3: S3Client, options: WorkerOptions, model: string): Promise<WorkerPlan> {
  const { inputUri, keySuffix, ranges } = options;
  const inputs = inputsOf(options);
  const found = await keyRanges(s3, inputs, ranges);
  return {
    fingerprint: fingerprintOf(options, model),
    model,
    inputUri,
    keySuffix,
    // The first range begins with the first key.
    cuts: sortedCuts(found.map(({ prefix }) => prefix)).slice(1),
  };
}

function fingerprintOf(options: WorkerOptions, model: string): string {
  const { contentType, accept, customAttributes, keySuffix } = options;
  return originOf(model, inputsOf(options).prefix, {
    contentType,
    accept: accept ?? '',
    environment: { customAttributes, keySuffix },
  }).fingerprint;
}

function checked(plan: WorkerPlan, options: WorkerOptions, model: string): WorkerPlan {
  if (plan.fingerprint === fingerprintOf(options, model)) return plan;
  throw new BatchError(
    'OTHER_RUN',
    `${options.outputUri} has answers of another model, of other inputs or of other settings (${PLAN_KEY} says which). Choose another output prefix.`,
  );
}
