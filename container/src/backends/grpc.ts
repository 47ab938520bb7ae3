/** The backend that speaks TensorFlow Serving's gRPC API. */
import {
  type AbortSignalLike,
  decodePredictResponseInTurns,
  encodePredictRequestInTurns,
  type SignatureMap,
  TensorError,
} from '@sagemaker-tfs/tensors';
import { GRPC_METHODS } from '@sagemaker-tfs/tensors/grpc-methods';
import { GrpcStatus } from '@sagemaker-tfs/tensors/grpc-status';
import { StatusError } from '@sagemaker-tfs/tensors/status-error';
import { ServingError } from '../errors.ts';
import { giveBytes } from '../memory/byte-pool.ts';
import { loadOnce } from '../memory/load-once.ts';
import type { InstancePool, PoolWork } from '../model-server/instance-pool.ts';
import type { ModelSelector, ModelVersionStatus } from '../models/servable.ts';
import { nextTurn } from '../waiting/next-turn.ts';
import type {
  Backend,
  BackendReply,
  BackendRequest,
  ExamplesReply,
  ExamplesRequest,
} from './backend.ts';
import { SignatureCache } from './signature-cache.ts';
import { inServingErrors } from './status.ts';
import { tooManyStrings } from './too-many-strings.ts';

/** Predicts over gRPC on the instances of a pool, which stays the caller's to close. */
export class GrpcBackend implements Backend {
  readonly transport = 'grpc';
  readonly #pool: InstancePool;
  readonly #timeoutMs: number;
  readonly #maxStrings: number;
  readonly #signatures: SignatureCache;

  /**
   * @param options.timeoutMs deadline of every call, which the model server gets
   * @param options.maxStrings of all outputs of an answer together
   */
  constructor(pool: InstancePool, options: { timeoutMs: number; maxStrings: number }) {
    this.#pool = pool;
    this.#timeoutMs = options.timeoutMs;
    this.#maxStrings = options.maxStrings;
    this.#signatures = new SignatureCache((model) =>
      this.#use(async ({ channel }) => (await modelService()).getModelSignatures(channel, model)),
    );
  }

  async predict(request: BackendRequest): Promise<BackendReply> {
    const message = await encodePredictRequestInTurns(request, turnsFor(request.signal));
    const bytes = await this.#call(GRPC_METHODS.predict, message, request);
    const { outputs, version } = await decodeReply(bytes, this.#maxStrings, request.signal);
    this.#signatures.answered(request.model, version);
    return { outputs, version, release: () => giveBytes(bytes) };
  }

  async examples(request: ExamplesRequest): Promise<ExamplesReply> {
    const { method } = request;
    const messages = await examplesMessages();
    const message = await messages.encodeExamplesRequest(request);
    const path = method === 'classify' ? GRPC_METHODS.classify : GRPC_METHODS.regress;
    const bytes = await this.#call(path, message, request).catch((error: unknown) => {
      throw isUnread(error) ? unreadExamples(error) : error;
    });
    const reply = await (method === 'classify'
      ? messages.decodeClassification(bytes, request.signal)
      : messages.decodeRegression(bytes, request.signal));
    this.#signatures.answered(request.model, reply.version);
    return reply;
  }

  async signatures(model: ModelSelector): Promise<SignatureMap> {
    return (await this.#signatures.entry(model)).signatures;
  }

  status(model: ModelSelector): Promise<readonly ModelVersionStatus[]> {
    return this.#use(async ({ channel }) => (await modelService()).getModelStatus(channel, model));
  }

  doubt(model: ModelSelector): void {
    this.#signatures.doubt(model);
  }

  /** Forgets the signatures of a model that was loaded anew. */
  forget(modelName: string): void {
    this.#signatures.forget(modelName);
  }

  async close(): Promise<void> {}

  /** Calls a method that runs the model. */
  #call(
    path: string,
    message: readonly Uint8Array[],
    { signal, batch }: Pick<BackendRequest, 'signal' | 'batch'>,
  ): Promise<Buffer> {
    const timeoutMs = this.#timeoutMs;
    return inServingErrors(
      this.#pool.use(
        ({ channel }, onAbandoned) =>
          channel.call({ path, message, timeoutMs, signal, onAbandoned }),
        { signal, batch },
      ),
      timeoutMs,
    );
  }

  #use<T>(work: PoolWork<T>): Promise<T> {
    return inServingErrors(this.#pool.use(work));
  }
}

/** gRPC's own answer to a message that its reader refuses has no text. */
function isUnread(error: unknown): error is ServingError {
  if (!(error instanceof ServingError) || !(error.cause instanceof StatusError)) return false;
  return error.cause.code === GrpcStatus.INTERNAL && error.cause.message === '';
}

function unreadExamples(cause: ServingError): ServingError {
  const message = 'TensorFlow Serving cannot read the tf.Examples: one of them is malformed';
  return new ServingError('BAD_INPUT', message, { cause });
}

/** Not before they are called: the descriptors of their messages take long to load, and Predict needs none. */
const modelService = loadOnce(() => import('../model-server/model-service.ts'));
const examplesMessages = loadOnce(() => import('./grpc/examples.ts'));

function turnsFor(signal: AbortSignalLike | undefined): () => Promise<void> {
  return async () => {
    await nextTurn();
    signal?.throwIfAborted();
  };
}

async function decodeReply(
  bytes: Uint8Array,
  maxStrings: number,
  signal: AbortSignalLike | undefined,
): Promise<BackendReply> {
  try {
    const options = { maxStrings, nextTurn: turnsFor(signal) };
    const { outputs, model } = await decodePredictResponseInTurns(bytes, options);
    return { outputs, version: model.version };
  } catch (error) {
    if (!(error instanceof TensorError)) throw error;
    if (error.code === 'TOO_LARGE') throw tooManyStrings(maxStrings, error);
    throw new ServingError('MODEL_FAILED', `the model's answer cannot be read: ${error.message}`, {
      cause: error,
    });
  }
}
