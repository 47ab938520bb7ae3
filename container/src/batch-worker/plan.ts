/** The plan of a run: made by the worker that comes first, kept by all others. */
import {
  BatchError,
  PLAN_KEY,
  parsePlan,
  type WorkerPlan,
  workerFingerprint,
} from '@sagemaker-tfs/batch';
import type { WorkerInputs } from '@sagemaker-tfs/batch/s3';
import type { WorkerOptions } from './options.ts';
import type { Store } from './store.ts';

/**
 * The plan below the output prefix, made if there is none.
 * @param model changes with the model
 * @throws BatchError OTHER_RUN if the answers there are of another model or other settings
 */
export async function openPlan(
  inputs: WorkerInputs,
  store: Store,
  options: WorkerOptions,
  model: string,
): Promise<WorkerPlan> {
  const there = await readPlan(store, options);
  if (there) return checked(inputs, there, options, model);
  const own = await makePlan(inputs, options, model);
  const text = Buffer.from(JSON.stringify(own));
  if (await store.create(PLAN_KEY, text, 'application/json')) return own;
  // Another worker was faster; its cuts may differ where inputs came meanwhile.
  const first = await readPlan(store, options);
  return checked(inputs, first ?? own, options, model);
}

async function readPlan(store: Store, { outputUri }: WorkerOptions) {
  const text = await store.read(PLAN_KEY);
  return text && parsePlan(text.toString('utf8'), `${outputUri}: ${PLAN_KEY}`);
}

async function makePlan(
  inputs: WorkerInputs,
  options: WorkerOptions,
  model: string,
): Promise<WorkerPlan> {
  const { inputUri, inventoryUri, keySuffix, ranges, pack } = options;
  return {
    fingerprint: workerFingerprint(inputs, options, model),
    model,
    inputUri,
    keySuffix,
    cuts: await inputs.cuts(ranges),
    ...(inventoryUri !== undefined && { inventoryUri }),
    ...(pack && { pack }),
  };
}

function checked(
  inputs: WorkerInputs,
  plan: WorkerPlan,
  options: WorkerOptions,
  model: string,
): WorkerPlan {
  if (plan.fingerprint === workerFingerprint(inputs, options, model)) return plan;
  throw new BatchError(
    'OTHER_RUN',
    `${options.outputUri} has answers of another model, of other inputs or of other settings (${PLAN_KEY} says which). Choose another output prefix.`,
  );
}
