/** Classify and Regress: serialized tf.Examples in, classes with scores or values out. */
import { create, toBinary } from '@bufbuild/protobuf';
import {
  type AbortSignalLike,
  DEFAULT_SIGNATURE,
  DTYPES,
  isNumeric,
  METHOD_NAMES,
  type Signature,
  type StringTensor,
  stringTensor,
  type Tensor,
  type TensorMap,
  typedArray,
} from '@sagemaker-tfs/tensors';
import {
  type ClassificationResult,
  ClassificationResultSchema,
  type Example,
  ExampleSchema,
  type Input,
  type RegressionResult,
  RegressionResultSchema,
} from '@sagemaker-tfs/tensors/protos';
import { shapeString } from './dtype-names.ts';
import { findSignature } from './predict.ts';
import type { Servable } from './servable.ts';
import { invalidArgument } from './status-error.ts';

/** A signature of Classify or Regress that was looked at: what to fetch, and what to make of it. */
export interface ExamplesTask<T> {
  readonly signature: Signature;
  readonly outputs: readonly string[];
  readonly convert: (outputs: TensorMap, examples: number) => T;
}

/** Runs a classification signature (servables/tensorflow/classifier.cc). @throws StatusError, the signal's reason */
export function classify(
  servable: Servable,
  signatureName: string,
  examples: readonly Uint8Array[],
  checkMethodName: boolean,
  signal?: AbortSignalLike,
): Promise<ClassificationResult> {
  const signature = signatureOf(servable, signatureName);
  return runExamples(servable, classification(signature, checkMethodName), examples, signal);
}

/** Runs a regression signature (servables/tensorflow/regressor.cc). @throws StatusError, the signal's reason */
export function regress(
  servable: Servable,
  signatureName: string,
  examples: readonly Uint8Array[],
  checkMethodName: boolean,
  signal?: AbortSignalLike,
): Promise<RegressionResult> {
  const signature = signatureOf(servable, signatureName);
  return runExamples(servable, regression(signature, checkMethodName), examples, signal);
}

/** {@link classify} without messages, which cost much for a million examples. */
export function classifyScores(
  servable: Servable,
  signatureName: string,
  examples: readonly Uint8Array[],
  checkMethodName: boolean,
  signal?: AbortSignalLike,
): Promise<ClassScores> {
  const signature = signatureOf(servable, signatureName);
  const { outputs } = classification(signature, checkMethodName);
  const task = { signature, outputs, convert: copiedScores };
  return runExamples(servable, task, examples, signal);
}

/** {@link regress} without messages: the value of each example. */
export function regressValues(
  servable: Servable,
  signatureName: string,
  examples: readonly Uint8Array[],
  checkMethodName: boolean,
  signal?: AbortSignalLike,
): Promise<Float32Array> {
  const signature = signatureOf(servable, signatureName);
  const { outputs } = regression(signature, checkMethodName);
  const convert = (found: TensorMap, count: number) => regressionValues(found, count).slice();
  return runExamples(servable, { signature, outputs, convert }, examples, signal);
}

/** PreProcessClassification. @throws StatusError INVALID_ARGUMENT */
export function classification(
  signature: Signature,
  checkMethodName: boolean,
): ExamplesTask<ClassificationResult> {
  checkSignature(signature, 'classification', checkMethodName);
  const outputs = Object.keys(signature.outputs);
  if (outputs.length !== 1 && outputs.length !== 2) {
    throw invalidArgument(`Expected one or two output Tensors, found ${outputs.length}`);
  }
  checkInput(signature, 'classification');
  const wanted = ['classes', 'scores'].filter((name) => outputs.includes(name));
  if (wanted.length === 0) {
    throw invalidArgument(
      'Expected classification signature outputs to contain at least one of "classes" or "scores". ' +
        `Signature was: its outputs are ${outputs.join(', ')}`,
    );
  }
  return { signature, outputs: wanted, convert: toClassifications };
}

/** PreProcessRegression. @throws StatusError INVALID_ARGUMENT */
export function regression(
  signature: Signature,
  checkMethodName: boolean,
): ExamplesTask<RegressionResult> {
  checkSignature(signature, 'regression', checkMethodName);
  const outputs = Object.keys(signature.outputs);
  if (outputs.length !== 1) throw invalidArgument('Expected one output Tensor.');
  checkInput(signature, 'regression');
  if (outputs[0] !== 'outputs') {
    throw invalidArgument(
      `No regression outputs found in SignatureDef: its output is ${outputs[0]}, not outputs`,
    );
  }
  return { signature, outputs, convert: toRegressions };
}

function signatureOf(servable: Servable, name: string): Signature {
  const key = name || DEFAULT_SIGNATURE;
  const signature = findSignature(servable, key);
  if (!signature) throw invalidArgument(`No signature was found with the name: ${key}`);
  return signature;
}

type Kind = 'classification' | 'regression';

function checkSignature(signature: Signature, kind: Kind, checkMethodName: boolean): void {
  const method = kind === 'classification' ? METHOD_NAMES.classify : METHOD_NAMES.regress;
  if (checkMethodName && signature.methodName !== method) {
    throw invalidArgument(
      `Expected ${kind} signature method_name to be ${method}. Was: ${signature.methodName}`,
    );
  }
  if (Object.keys(signature.inputs).length !== 1) {
    throw invalidArgument('Expected one input Tensor.');
  }
}

function checkInput(signature: Signature, kind: Kind): void {
  const [input] = Object.keys(signature.inputs);
  if (input === 'inputs') return;
  throw invalidArgument(
    `No ${kind} inputs found in SignatureDef: its input is ${input}, not inputs`,
  );
}

/** @throws StatusError, the signal's reason */
export async function runExamples<T>(
  servable: Servable,
  { signature, outputs, convert }: ExamplesTask<T>,
  examples: readonly Uint8Array[],
  signal?: AbortSignalLike,
): Promise<T> {
  if (examples.length === 0) throw invalidArgument('Input is empty.');
  const [name = ''] = Object.keys(signature.inputs);
  // Whatever the signature declares: exporters of TensorFlow 1 wrote the dtype of the parsed feature there.
  const inputs = { [name]: stringTensor([examples.length], examples) };
  const result = await servable.session.run(signature.key, inputs, outputs, signal);
  try {
    return convert(result.outputs, examples.length);
  } finally {
    result.release();
  }
}

/** The serialized tf.Examples of an Input; a context's features come first, so that an example's own win. */
export function serializedExamples(input: Input | undefined): Uint8Array[] {
  const list = input?.kind.value?.examples ?? [];
  const context =
    input?.kind.case === 'exampleListWithContext' && input.kind.value.context
      ? serialize(input.kind.value.context)
      : undefined;
  return list.map((example) =>
    context ? Buffer.concat([context, serialize(example)]) : serialize(example),
  );
}

function serialize(example: Example): Uint8Array {
  return toBinary(ExampleSchema, example);
}

/** Labels and scores of the examples' classes, one row after the other. */
export interface ClassScores {
  /** Classes of each example. */
  readonly columns: number;
  /** The bytes of each label; undefined if the signature has none. */
  readonly labels: readonly Uint8Array[] | undefined;
  readonly scores: Float32Array | undefined;
}

/** Strings are copied as they are read; numbers lie in memory that goes with the run. */
function copiedScores(outputs: TensorMap, examples: number): ClassScores {
  const { columns, labels, scores } = classScores(outputs, examples);
  return { columns, labels, scores: scores?.slice() };
}

function classScores(outputs: TensorMap, examples: number): ClassScores {
  const classes = outputs.classes && stringMatrix(outputs.classes, examples);
  const scores = outputs.scores && floatMatrix(outputs.scores, examples);
  const columns = (classes ?? scores)?.columns ?? 0;
  if (classes && scores && classes.columns !== scores.columns) {
    throw invalidArgument(
      `Tensors class and score should match in dim_size(1). Got ${classes.columns} vs. ${scores.columns}`,
    );
  }
  return { columns, labels: classes?.values, scores: scores?.values };
}

function toClassifications(outputs: TensorMap, examples: number): ClassificationResult {
  const { columns, labels, scores } = classScores(outputs, examples);
  const rows = Array.from({ length: examples }, (_, row) => ({
    classes: Array.from({ length: columns }, (_, column) => {
      const at = row * columns + column;
      return { label: labels?.[at] ?? new Uint8Array(0), score: scores?.[at] ?? 0 };
    }),
  }));
  return create(ClassificationResultSchema, { classifications: rows });
}

interface Matrix<Values> {
  readonly columns: number;
  readonly values: Values;
}

function stringMatrix(tensor: Tensor, rows: number): Matrix<readonly Uint8Array[]> {
  const columns = checkMatrix(tensor, rows, 'classes');
  if (isNumeric(tensor)) throw wrongDtype('classes', 'DT_STRING', tensor);
  const { values }: StringTensor = tensor;
  return { columns, values };
}

function floatMatrix(tensor: Tensor, rows: number): Matrix<Float32Array> {
  const columns = checkMatrix(tensor, rows, 'scores');
  return { columns, values: floats(tensor, 'scores') };
}

function checkMatrix({ shape }: Tensor, rows: number, name: string): number {
  const [first, columns] = shape;
  if (shape.length !== 2 || columns === undefined) {
    throw invalidArgument(
      `Expected Tensor shape: [batch_size num_classes] but got ${shapeString(shape)}`,
    );
  }
  if (first !== rows) {
    throw invalidArgument(`Expected ${name} output batch size of ${rows}. Got: ${first}`);
  }
  return columns;
}

function floats(tensor: Tensor, name: string): Float32Array {
  const values = isNumeric(tensor) && typedArray(tensor);
  if (values instanceof Float32Array) return values;
  throw wrongDtype(name, 'DT_FLOAT', tensor);
}

function wrongDtype(name: string, expected: string, { dtype }: Tensor): Error {
  return invalidArgument(`Expected ${name} Tensor of ${expected}. Got: ${DTYPES[dtype].enumName}`);
}

function toRegressions(outputs: TensorMap, examples: number): RegressionResult {
  const values = regressionValues(outputs, examples);
  return create(RegressionResultSchema, {
    regressions: Array.from(values, (value) => ({ value })),
  });
}

function regressionValues(outputs: TensorMap, examples: number): Float32Array {
  const [output] = Object.values(outputs);
  const shape = output?.shape ?? [];
  if (!output || !(shape.length === 1 || (shape.length === 2 && shape[1] === 1))) {
    throw invalidArgument(
      `Expected output Tensor shape to be either [batch_size] or [batch_size, 1] but got ${shapeString(shape)}`,
    );
  }
  if (shape[0] !== examples) {
    throw invalidArgument(
      `Input batch size did not match output batch size: ${examples} vs. ${shape[0]}`,
    );
  }
  return floats(output, 'output');
}
