/**
 * Joins calls that come at the same time into batches, over whichever transport. TensorFlow Serving could do it too
 * (`--enable_batching`), but fails a whole batch for one of its calls and has no way to run a call alone; here each
 * call of a batch that failed runs again in smaller ones, until it has its own answer or error.
 */
import {
  type AfterFailure,
  type BatchContext,
  type BatchThreads,
  JoiningSession,
  type JoiningSessionOptions,
  type RunResult,
} from '@sagemaker-tfs/libtensorflow/joining';
import {
  type AbortSignalLike,
  own,
  type SignatureMap,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import { StatusError } from '@sagemaker-tfs/tensors/status-error';
import type { Batching } from '../environment.ts';
import { ServingError } from '../errors.ts';
import type { ModelSelector, ModelVersionStatus } from '../models/servable.ts';
import type { AskWriting } from '../models/writing-signatures.ts';
import { ConnectionLost } from '../transport/connection-lost.ts';
import type {
  Backend,
  BackendReply,
  BackendRequest,
  ExamplesReply,
  ExamplesRequest,
} from './backend.ts';
import { type BatchListeners, batchingOptions } from './batching-options.ts';
import {
  EXAMPLES_OUTPUTS,
  examplesCall,
  examplesInputs,
  examplesKey,
  examplesReply,
  examplesSession,
} from './examples-session.ts';
import { isKeyOf, keyOf } from './signature-cache.ts';
import { inServingErrors } from './status.ts';

/** What is joined, and how. */
interface JoiningOptions {
  readonly batching: Batching;
  /** Shared by all that join calls of one process. */
  readonly threads: BatchThreads;
  /** Rows of one call that is split into batches. */
  readonly maxRows: number;
  readonly listeners?: BatchListeners | undefined;
  readonly writing: AskWriting;
}

/** A backend of the model server. */
export interface JoinableBackend extends Backend {
  forget(modelName: string): void;
}

/** The model of a selector, as it is now. */
interface Joined {
  readonly signatures: SignatureMap;
  readonly session: JoiningSession;
  /** Of Classify and Regress. */
  readonly examples: JoiningSession;
}

/** Calls of one signature that can be joined run as one; all others go through as they are. */
export class JoiningBackend implements JoinableBackend {
  readonly transport;
  readonly #backend: JoinableBackend;
  readonly #options: JoiningOptions;
  readonly #joined = new Map<string, Joined>();

  constructor(backend: JoinableBackend, options: JoiningOptions) {
    this.transport = backend.transport;
    this.#backend = backend;
    this.#options = options;
  }

  async predict(request: BackendRequest): Promise<BackendReply> {
    const { model, signature, inputs, outputs, signal } = request;
    const { signatures, session } = await this.#session(model);
    const known = own(signatures, signature);
    if (!known) return this.#backend.predict(request);
    const wanted = outputs ?? Object.keys(known.outputs);
    return inServingErrors(session.run(signature, inputs, wanted, signal));
  }

  async examples(request: ExamplesRequest): Promise<ExamplesReply> {
    const { model, method, signal } = request;
    const { signatures, examples } = await this.#session(model);
    if (!own(signatures, request.signature)) return this.#runExamples(request);
    const inputs = examplesInputs(request.examples);
    const key = examplesKey(request);
    const result = examples.run(key, inputs, EXAMPLES_OUTPUTS[method], signal);
    return examplesReply(await inServingErrors(result));
  }

  signatures(model: ModelSelector): Promise<SignatureMap> {
    return this.#backend.signatures(model);
  }

  status(model: ModelSelector): Promise<readonly ModelVersionStatus[]> {
    return this.#backend.status(model);
  }

  doubt(model: ModelSelector): void {
    this.#backend.doubt?.(model);
  }

  forget(modelName: string): void {
    this.#backend.forget(modelName);
    for (const key of this.#joined.keys()) {
      if (isKeyOf(key, modelName)) this.#joined.delete(key);
    }
  }

  close(): Promise<void> {
    return this.#backend.close();
  }

  /** The session of the model's present version. Other signatures mean another version, with a session of its own. */
  async #session(model: ModelSelector): Promise<Joined> {
    const signatures = await this.#backend.signatures(model);
    const key = keyOf(model);
    const known = this.#joined.get(key);
    if (known?.signatures === signatures) return known;
    const run = (
      signature: string,
      inputs: TensorMap,
      outputs: readonly string[],
      signal?: AbortSignalLike,
      batch?: BatchContext,
    ) => this.#run({ model, signature, inputs, outputs, signal, batch });
    const writing = this.#options.writing(model, signatures);
    const options = { ...this.#options, model: model.name, afterFailure, writing };
    const session = new JoiningSession(
      { signatures, run, close: async () => undefined },
      batchingOptions(options),
      this.#options.threads,
    );
    const examples = new JoiningSession(
      examplesSession(signatures, (call, examples, signal, batch) =>
        this.#runExamples({ model, ...call, examples, signal, batch }),
      ),
      examplesOptions(batchingOptions(options)),
      this.#options.threads,
    );
    const joined = { signatures, session, examples };
    this.#joined.set(key, joined);
    return joined;
  }

  async #run(request: BackendRequest): Promise<RunResult> {
    const { outputs, version, release } = await this.#backend.predict(request);
    return { outputs, version, release: release ?? (() => undefined) };
  }

  #runExamples(request: ExamplesRequest): Promise<ExamplesReply> {
    const { examples } = this.#backend;
    if (examples) return examples.call(this.#backend, request);
    throw new ServingError('BAD_REQUEST', `${request.method} is not known to ${this.transport}`);
  }
}

/** tf.Examples are neither filled up nor cut; that a signature writes is reported once, not for each method. */
function examplesOptions(options: JoiningSessionOptions): JoiningSessionOptions {
  const { maxBatchSize, onAlone, writing } = options;
  const both = (signature: string) =>
    (['classify', 'regress'] as const).map((method) => examplesKey({ method, signature }));
  return {
    ...options,
    maxInputRows: maxBatchSize,
    allowedBatchSizes: [],
    padVariableLengthInputs: false,
    ...(writing && { writing: writing.then((keys) => new Set([...keys].flatMap(both))) }),
    onAlone: (key, why) => {
      if (why !== 'writes') onAlone?.(examplesCall(key).signature, why);
    },
  };
}

/** Errors that each of the calls has, whoever runs beside it. */
const OF_EVERY_CALL: ReadonlySet<string> = new Set([
  'MODEL_NOT_FOUND',
  'MODEL_NOT_READY',
  'REQUEST_TIMEOUT',
  'UNKNOWN_SIGNATURE',
]);

function afterFailure(error: unknown): AfterFailure {
  if (error instanceof StatusError) return 'halves';
  if (!(error instanceof ServingError) || OF_EVERY_CALL.has(error.code)) return 'reject';
  if (error.code === 'MODEL_SERVER_GONE') {
    const isLost = error.cause instanceof ConnectionLost && error.cause.wasSent;
    return isLost ? 'one by one' : 'reject';
  }
  return error.code === 'MODEL_FAILED' && error.status === 503 ? 'reject' : 'halves';
}
