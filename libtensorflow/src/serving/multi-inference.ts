/** MultiInference: several Classify and Regress signatures of one model over the same tf.Examples. */
import { create } from '@bufbuild/protobuf';
import { type AbortSignalLike, DEFAULT_SIGNATURE, METHOD_NAMES } from '@sagemaker-tfs/tensors';
import {
  Code,
  type InferenceResult,
  InferenceResultSchema,
  type MultiInferenceRequest,
} from '@sagemaker-tfs/tensors/protos';
import {
  classification,
  type ExamplesTask,
  regression,
  runExamples,
  serializedExamples,
} from './examples.ts';
import { findSignature } from './predict.ts';
import { answeredSpec, type Servable } from './servable.ts';
import { invalidArgument, StatusError } from './status-error.ts';

type Result = InferenceResult['result'];

/**
 * Runs every task, each in a run of its own (servables/tensorflow/multi_inference.cc has one for all).
 * @returns a result a task, in their order
 * @throws StatusError INVALID_ARGUMENT, before anything runs, where a task asks another model, a signature that is not
 *   there or one that another task has; UNIMPLEMENTED for other methods
 */
export async function multiInference(
  servable: Servable,
  { tasks, input }: MultiInferenceRequest,
  checkMethodName: boolean,
  signal?: AbortSignalLike,
): Promise<InferenceResult[]> {
  const [first] = tasks;
  const prepared = new Map<string, ExamplesTask<Result>>();
  for (const { modelSpec, methodName } of tasks) {
    if (!modelSpec?.name) throw invalidArgument('Found ModelSpec with an empty model name.');
    if (modelSpec.name !== first?.modelSpec?.name) {
      throw invalidArgument(
        'All ModelSpecs in a MultiInferenceRequest must access the same model name.',
      );
    }
    const name = modelSpec.signatureName || DEFAULT_SIGNATURE;
    if (prepared.has(name)) throw invalidArgument(`Duplicate evaluation of signature: ${name}`);
    prepared.set(name, prepare(servable, name, methodName, checkMethodName));
  }
  const examples = serializedExamples(input);
  const results: InferenceResult[] = [];
  for (const [signatureName, task] of prepared) {
    const result = await runExamples(servable, task, examples, signal);
    const modelSpec = answeredSpec(servable, signatureName);
    results.push(create(InferenceResultSchema, { modelSpec, result }));
  }
  return results;
}

function prepare(
  servable: Servable,
  name: string,
  methodName: string,
  checkMethodName: boolean,
): ExamplesTask<Result> {
  const signature = findSignature(servable, name);
  if (!signature) throw invalidArgument(`Requested signature not found in model graph: ${name}`);
  switch (methodName) {
    case METHOD_NAMES.classify:
      return as('classificationResult', classification(signature, checkMethodName));
    case METHOD_NAMES.regress:
      return as('regressionResult', regression(signature, checkMethodName));
    default:
      throw new StatusError(Code.UNIMPLEMENTED, `Unsupported signature method_name: ${methodName}`);
  }
}

function as<C extends NonNullable<Result['case']>>(
  kind: C,
  task: ExamplesTask<Extract<Result, { case: C }>['value']>,
): ExamplesTask<Result> {
  const convert: ExamplesTask<Result>['convert'] = (outputs, examples) =>
    ({ case: kind, value: task.convert(outputs, examples) }) as Result;
  return { ...task, convert };
}
