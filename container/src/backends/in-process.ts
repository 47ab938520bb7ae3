/** The backend that runs the models in this process, through TensorFlow's C API. */
import { LibTensorFlowError } from '@sagemaker-tfs/libtensorflow';
import {
  type ClassScores,
  classifyScores,
  predict,
  regressValues,
  type Servable,
  toStatusError,
} from '@sagemaker-tfs/libtensorflow/serving';
import type { AbortSignalLike, SignatureMap } from '@sagemaker-tfs/tensors';
import { answerTooLarge } from '../answer-too-large.ts';
import { ServingError } from '../errors.ts';
import type { ModelSelector, ModelVersionStatus } from '../models/servable.ts';
import { eachInTurns, indices } from '../waiting/in-turns.ts';
import type {
  Backend,
  BackendReply,
  BackendRequest,
  ExamplesReply,
  ExamplesRequest,
  LabeledScore,
} from './backend.ts';
import type { ModelStore } from './in-process/model-store.ts';
import type { RunGuard } from './in-process/run-guard.ts';
import { servingErrorOf } from './status.ts';
import { tooManyStrings } from './too-many-strings.ts';

/** As TensorFlow Serving does by default (`--enable_signature_method_name_check`). */
const CHECK_METHOD_NAME = false;

/** What an answer may hold, all outputs together, and take. */
export interface AnswerLimits {
  readonly maxStrings: number;
  /** Bytes of numbers. */
  readonly maxBytes: number;
  /** Limit of a request, ms. */
  readonly timeoutMs: number;
}

/** Predicts on the models of a store, which stays the caller's; errors are those of the other backends. */
export class InProcessBackend implements Backend {
  readonly transport = 'in-process';
  readonly #models: ModelStore;
  readonly #limits: AnswerLimits;
  readonly #guard: RunGuard | undefined;

  /**
   * @param limits those that the models were loaded with
   * @param guard undefined: each run is tried, whatever it did before
   */
  constructor(models: ModelStore, limits: AnswerLimits, guard?: RunGuard) {
    this.#models = models;
    this.#limits = limits;
    this.#guard = guard;
  }

  predict(request: BackendRequest): Promise<BackendReply> {
    return this.#run(request, async (servable) => {
      const result = await predict(servable, request, CHECK_METHOD_NAME);
      return {
        outputs: result.outputs,
        version: servable.version.toString(),
        release: () => result.release(),
      };
    });
  }

  examples(request: ExamplesRequest): Promise<ExamplesReply> {
    const { method, signature, examples, signal } = request;
    return this.#run(request, async (servable) => {
      const version = servable.version.toString();
      const call = [servable, signature, examples, CHECK_METHOD_NAME, signal] as const;
      if (method === 'regress') {
        return { regressions: Array.from(await regressValues(...call)), version };
      }
      const scores = await classifyScores(...call);
      return { classifications: await rowsOf(scores, examples.length, signal), version };
    });
  }

  async signatures(model: ModelSelector): Promise<SignatureMap> {
    return this.#use({ model }, async ({ session }) => session.signatures);
  }

  async status(model: ModelSelector): Promise<readonly ModelVersionStatus[]> {
    try {
      return this.#models.statuses(model);
    } catch (error) {
      throw servingErrorFrom(error, this.#limits);
    }
  }

  async close(): Promise<void> {}

  #run<T>(
    request: BackendRequest | ExamplesRequest,
    work: (servable: Servable) => Promise<T>,
  ): Promise<T> {
    const guard = this.#guard;
    if (!guard) return this.#use(request, work);
    return this.#use(request, (servable) =>
      guard.use(request, servable.origin, () => work(servable)),
    );
  }

  async #use<T>(
    {
      model,
      signal,
    }: { readonly model: ModelSelector; readonly signal?: AbortSignalLike | undefined },
    work: (servable: Servable) => Promise<T>,
  ): Promise<T> {
    try {
      return await this.#models.servable(model).use(work);
    } catch (error) {
      signal?.throwIfAborted();
      throw servingErrorFrom(error, this.#limits);
    }
  }
}

/** The same status and text as through TensorFlow Serving. */
function servingErrorFrom(
  error: unknown,
  { maxStrings, maxBytes, timeoutMs }: AnswerLimits,
): ServingError {
  if (error instanceof ServingError) return error;
  const status = toStatusError(error);
  const { cause } = status;
  if (cause instanceof LibTensorFlowError && cause.code === 'TOO_MANY_STRINGS') {
    return tooManyStrings(maxStrings, status);
  }
  if (cause instanceof LibTensorFlowError && cause.code === 'TOO_MANY_BYTES') {
    return answerTooLarge(`the model's answer holds more than ${maxBytes} bytes`, maxBytes, status);
  }
  return servingErrorOf(status, timeoutMs);
}

const NO_LABEL = new Uint8Array(0);

/** The classes of each example, made in turns. @throws the signal's reason */
async function rowsOf(
  { columns, labels, scores }: ClassScores,
  examples: number,
  signal: AbortSignalLike | undefined,
): Promise<LabeledScore[][]> {
  const rows = Array.from({ length: examples }, (): LabeledScore[] => []);
  const add = (at: number) => {
    const label = labels?.[at] ?? NO_LABEL;
    rows[Math.floor(at / columns)]?.push({ label, score: scores?.[at] ?? 0 });
  };
  await eachInTurns(indices(examples * columns), add, { signal });
  return rows;
}
