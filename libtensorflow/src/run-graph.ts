/** One run of a graph: inputs in, `TF_SessionRun`, outputs as views. */
import {
  isNumeric,
  type Signature,
  type Tensor,
  type TensorMap,
  type TensorSpec,
} from '@sagemaker-tfs/tensors';
import type { CApi, Pointer } from './c-api.ts';
import { LibTensorFlowError } from './errors.ts';
import { graphOutputs } from './graph-outputs.ts';
import type { NativeModel } from './load-saved-model.ts';
import {
  allocateInput,
  deleteInput,
  type Output,
  type OutputLimits,
  readOutput,
} from './native-tensor.ts';
import type { Course } from './quick-runs.ts';
import { releaser, type ViewedTensor } from './release.ts';
import { restoreAdvice } from './restore-advice.ts';
import { withStatus } from './status.ts';

/** Outputs of one run. */
export interface RunResult {
  /** Read only: a view may be on memory that the model still uses, such as a constant. */
  readonly outputs: TensorMap;
  /**
   * Frees the native memory that the outputs are views on; after it they must not be touched. A result
   * that nobody releases is freed once its buffers are garbage.
   */
  release(): void;
}

/** How a run is made. */
export interface RunManner {
  /** Of all outputs together. */
  readonly limits: OutputLimits;
  /** A quick one is run on this thread, any other on one of libuv's. */
  readonly course: Course | undefined;
  /** TensorFlow's RunOptions, a TF_Buffer made when the run begins; freed after it. */
  readonly options: () => Pointer | null;
}

/** Inputs and outputs must have been checked against the signature. */
export async function runGraph(
  api: CApi,
  model: NativeModel,
  signature: Signature,
  inputs: TensorMap,
  outputNames: readonly string[],
  manner: RunManner,
): Promise<RunResult> {
  const tensorNames = outputNames.map((name) => tensorNameOf(signature.outputs, name));
  // Two outputs can be the same tensor of the graph, which is then fetched once.
  const fetched = [...new Set(tensorNames)];
  const entries = Object.entries(inputs);
  const feeds = entries.map(([name]) => tensorNameOf(signature.inputs, name));
  const natives = await allocateInputs(
    api,
    entries.map(([, tensor]) => tensor),
  );
  try {
    const results = await sessionRun(api, model, feeds, natives, fetched, manner);
    const { read, release } = await readOutputs(api, results, manner.limits);
    const byTensorName = new Map(fetched.map((name, index) => [name, read[index] as Tensor]));
    const outputs = outputNames.map((name, index) => [
      name,
      byTensorName.get(tensorNames[index] as string) as Tensor,
    ]);
    return { outputs: Object.fromEntries(outputs), release };
  } finally {
    for (const [index, [, tensor]] of entries.entries()) {
      await deleteInput(api, natives[index] as Pointer, tensor);
    }
  }
}

function tensorNameOf(specs: Readonly<Record<string, TensorSpec>>, name: string): string {
  return (specs[name] as TensorSpec).tensorName;
}

async function allocateInputs(api: CApi, tensors: readonly Tensor[]): Promise<Pointer[]> {
  const natives: Pointer[] = [];
  try {
    for (const tensor of tensors) natives.push(await allocateInput(api, tensor));
    return natives;
  } catch (error) {
    for (const [index, native] of natives.entries()) {
      await deleteInput(api, native, tensors[index] as Tensor);
    }
    throw error;
  }
}

/** @returns a `TF_Tensor` for each fetch */
async function sessionRun(
  api: CApi,
  model: NativeModel,
  feeds: readonly string[],
  feedValues: readonly Pointer[],
  fetches: readonly string[],
  { course, options }: RunManner,
): Promise<Pointer[]> {
  // The worker thread reads and writes these arrays: they live in this frame until it is done.
  const feedOutputs = graphOutputs(api, model.graph, feeds);
  const feedPointers = BigUint64Array.from(feedValues);
  const fetchOutputs = graphOutputs(api, model.graph, fetches);
  const fetchPointers = new BigUint64Array(fetches.length);
  const runOptions = options();
  const run = course?.isQuick ? api.sessionRunHere : api.TF_SessionRun;
  const began = performance.now();
  const { outcome } = await withStatus(api, async (status) =>
    run(
      model.session,
      runOptions,
      feedOutputs,
      feedPointers,
      feeds.length,
      fetchOutputs,
      fetchPointers,
      fetches.length,
      null,
      0,
      null,
      status,
    ),
  );
  course?.took(performance.now() - began);
  if (runOptions !== null) api.TF_DeleteBuffer(runOptions);
  const results = [...fetchPointers];
  if (outcome.code === 0) return results;
  for (const native of results) if (native !== 0n) api.TF_DeleteTensor(native);
  throw new LibTensorFlowError(
    'RUN_FAILED',
    `${outcome.message}${restoreAdvice(outcome.message)}`,
    { tfCode: outcome.code },
  );
}

/** Describes the results; those without a view are freed here, the others by `release`. */
async function readOutputs(
  api: CApi,
  results: readonly Pointer[],
  limits: OutputLimits,
): Promise<{ readonly read: readonly Tensor[]; readonly release: () => void }> {
  const outputs: Output[] = [];
  let { maxStrings, maxBytes } = limits;
  try {
    for (const native of results) {
      const output = await readOutput(api, native, { maxStrings, maxBytes });
      if (isNumeric(output.tensor)) maxBytes -= output.tensor.bytes.byteLength;
      else maxStrings -= output.tensor.values.length;
      outputs.push(output);
    }
  } catch (error) {
    for (const native of results) api.TF_DeleteTensor(native);
    throw error;
  }
  const viewed: ViewedTensor[] = [];
  outputs.forEach(({ view }, index) => {
    const native = results[index] as Pointer;
    if (view) viewed.push({ native, view });
    else api.TF_DeleteTensor(native);
  });
  return { read: outputs.map(({ tensor }) => tensor), release: releaser(api, viewed) };
}
