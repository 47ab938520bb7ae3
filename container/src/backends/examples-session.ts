/**
 * Classify and Regress as a session of tensors, so that they are joined as Predict is: tf.Examples are rows of strings,
 * their results rows of labels and scores.
 */
import type { RunResult, Session } from '@sagemaker-tfs/libtensorflow/joining';
import {
  numericTensor,
  type Signature,
  type SignatureMap,
  type StringTensor,
  type Tensor,
  type TensorMap,
  toNumbers,
} from '@sagemaker-tfs/tensors';
import { GrpcStatus } from '@sagemaker-tfs/tensors/grpc-status';
import { StatusError } from '@sagemaker-tfs/tensors/status-error';
import type { ExamplesReply, ExamplesRequest } from './backend.ts';

type Method = ExamplesRequest['method'];

/** What a run of the session is about. */
interface ExamplesCall {
  readonly method: Method;
  /** Signature key. */
  readonly signature: string;
}

/** Calls the model with the examples of one request, or of several. */
type RunExamples = (
  call: ExamplesCall,
  examples: readonly Uint8Array[],
  ...rest: RestOfRun
) => Promise<ExamplesReply>;
type RestOfRun =
  Parameters<Session['run']> extends [unknown, unknown, unknown, ...infer Rest] ? Rest : never;

/** Outputs of each method, in the order in which they are asked for. */
export const EXAMPLES_OUTPUTS = {
  classify: ['labels', 'scores'],
  regress: ['values'],
} as const satisfies Record<Method, readonly string[]>;

/** The key of one method of a signature in the session. */
export function examplesKey({ method, signature }: ExamplesCall): string {
  return `${method} ${signature}`;
}

/** What {@link examplesKey} was made of. */
export function examplesCall(key: string): ExamplesCall {
  const method = key.startsWith('classify ') ? 'classify' : 'regress';
  return { method, signature: key.slice(method.length + 1) };
}

/** The session of a model's signatures. */
export function examplesSession(signatures: SignatureMap, run: RunExamples): Session {
  const calls = Object.keys(signatures).flatMap((signature) => [
    examplesKey({ method: 'classify', signature }),
    examplesKey({ method: 'regress', signature }),
  ]);
  return {
    signatures: Object.fromEntries(calls.map((key) => [key, signatureOf(key)])),
    async run(key, inputs, _outputs, ...rest) {
      const { examples } = inputs;
      const strings = (examples as StringTensor).values;
      return resultOf(await run(examplesCall(key), strings, ...rest));
    },
    close: async () => undefined,
  };
}

function signatureOf(key: string): Signature {
  const text = { tensorName: '', dtype: 'string', dtypeEnum: 7, shape: [-1] } as const;
  const number = { tensorName: '', dtype: 'float64', dtypeEnum: 2, shape: [-1] } as const;
  const outputs =
    examplesCall(key).method === 'classify'
      ? { labels: { ...text, shape: [-1, -1] }, scores: { ...number, shape: [-1, -1] } }
      : { values: number };
  return { key, methodName: '', inputs: { examples: text }, outputs };
}

export function examplesInputs(examples: readonly Uint8Array[]): TensorMap {
  return { examples: { dtype: 'string', shape: [examples.length], values: [...examples] } };
}

/** @throws StatusError if examples have differing numbers of classes, which TensorFlow Serving never answers */
function resultOf({ classifications, regressions = [], version }: ExamplesReply): RunResult {
  const release = () => undefined;
  if (!classifications) {
    const values = numericTensor('float64', [regressions.length], Float64Array.from(regressions));
    return { outputs: { values }, version, release };
  }
  const width = classifications[0]?.length ?? 0;
  if (classifications.some(({ length }) => length !== width)) {
    const message = 'The model answered differing numbers of classes for the examples of a request';
    throw new StatusError(GrpcStatus.FAILED_PRECONDITION, message);
  }
  const classes = classifications.flat();
  const shape = [classifications.length, width];
  const scores = Float64Array.from(classes, ({ score }) => score);
  const values = classes.map(({ label }) => label);
  const labels: Tensor = { dtype: 'string', shape, values };
  return {
    outputs: { labels, scores: numericTensor('float64', shape, scores) },
    version,
    release,
  };
}

/** The results of one request, from its part of a batch or from its own run. */
export function examplesReply({ outputs, version }: RunResult): ExamplesReply {
  const ofVersion = version === undefined ? {} : { version };
  const { values, labels, scores } = outputs;
  if (values) return { regressions: numbersOf(values), ...ofVersion };
  const [rows = 0, width = 0] = labels?.shape ?? [];
  const { values: texts } = labels as StringTensor;
  const numbers = numbersOf(scores as Tensor);
  const classifications = Array.from({ length: rows }, (_, row) =>
    texts.slice(row * width, (row + 1) * width).map((label, at) => ({
      label,
      score: numbers[row * width + at] as number,
    })),
  );
  return { classifications, ...ofVersion };
}

function numbersOf(tensor: Tensor): number[] {
  return tensor.dtype === 'string' ? [] : Array.from(toNumbers(tensor), Number);
}
