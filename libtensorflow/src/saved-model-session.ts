/** A SavedModel loaded into TensorFlow, ready to run. */
import {
  type AbortSignalLike,
  own,
  type SignatureMap,
  signatureMapOf,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import type { MetaGraphDef } from '@sagemaker-tfs/tensors/protos';
import { abortable, droppable } from './abortable.ts';
import { type Pointer, preloadLibrary, type TensorFlow } from './c-api.ts';
import { checkInputs, checkOutputs } from './check-inputs.ts';
import { type Device, devicesOf } from './devices.ts';
import { LibTensorFlowError } from './errors.ts';
import { findLibrary } from './find-library.ts';
import { type SignatureCosts, signatureCostsInTurns } from './graph/run-traits.ts';
import type { LibraryLocation } from './library-location.ts';
import { loadSavedModel, type NativeModel } from './load-saved-model.ts';
import { deleteKeptInputs, type OutputLimits } from './native-tensor.ts';
import { type CourseOf, quickRuns } from './quick-runs.ts';
import { type RunResult, runGraph } from './run-graph.ts';
import { endingAt, inCallingThread } from './run-options.ts';
import { enqueueRun } from './run-queue.ts';
import { IN_CALLING_THREAD, type SessionConfig } from './session-config.ts';
import { signatureDefaults } from './signature-defaults.ts';
import { withStatus } from './status.ts';

/** How a SavedModel is loaded. */
export interface LoadOptions extends SessionConfig {
  /** Tags of the MetaGraphDef to load. Default: `['serve']`. */
  readonly tags?: readonly string[];
  /** Default: what {@link findLibrary} finds. */
  readonly library?: LibraryLocation;
  /** Strings that the outputs of a run hold at most, all together; each becomes an object. Default: no limit. */
  readonly maxOutputStrings?: number;
  /** Bytes of numbers that the outputs of a run hold at most, all together. Default: what Node can hold of each. */
  readonly maxOutputBytes?: number;
}

/** What one run may set. */
export interface RunOptions {
  /** Names of the outputs to compute, in order. Default: all of the signature's. */
  readonly outputs?: readonly string[];
  /**
   * Stops waiting: the promise rejects with the signal's reason at once, and the result is dropped. At its `deadline`
   * TensorFlow ends a run that has loops, or waits, by itself.
   */
  readonly signal?: AbortSignalLike;
}

/**
 * One SavedModel in memory. Any number of sessions and of runs may be in flight at the same time; runs
 * beyond libuv's worker threads wait in order (see README on `UV_THREADPOOL_SIZE`).
 */
export class SavedModelSession {
  readonly signatures: SignatureMap;
  /** As loaded, without `graph_def` and `object_graph_def`. */
  readonly metaGraph: MetaGraphDef;
  /** What TensorFlow has to run it on; the graph decides which operation goes where. */
  readonly devices: readonly Device[];
  readonly #tensorflow: TensorFlow;
  readonly #model: NativeModel;
  readonly #limits: OutputLimits;
  readonly #courseOf: CourseOf;
  /** Signatures that TensorFlow must end at a deadline. Undefined: they may be any. */
  readonly #endless: ReadonlySet<string> | undefined;
  readonly #isInCallingThread: boolean;
  readonly #defaults: ReadonlyMap<string, TensorMap>;
  readonly #inFlight = new Set<Promise<unknown>>();
  #closed: Promise<void> | undefined;

  private constructor(
    tensorflow: TensorFlow,
    model: NativeModel,
    devices: readonly Device[],
    limits: OutputLimits,
    config: SessionConfig,
    costs: SignatureCosts | undefined,
  ) {
    this.#tensorflow = tensorflow;
    this.devices = devices;
    this.#model = model;
    this.#limits = limits;
    this.#courseOf = courseOf(config, costs);
    this.#endless = costs?.endless;
    this.#isInCallingThread = config.interOpThreads === IN_CALLING_THREAD;
    this.metaGraph = model.metaGraph;
    this.signatures = signatureMapOf(model.metaGraph);
    this.#defaults = signatureDefaults(model.metaGraph);
  }

  /**
   * Loads a SavedModel and restores its variables, off the event loop.
   *
   * @param directory the one that holds `saved_model.pb`
   * @throws LibTensorFlowError LIBRARY_NOT_FOUND, LIBRARY_LOAD_FAILED, NOT_A_SAVED_MODEL, or
   * MODEL_LOAD_FAILED with TensorFlow's message
   */
  static async load(directory: string, options: LoadOptions = {}): Promise<SavedModelSession> {
    const { tags = ['serve'], library, maxOutputStrings, maxOutputBytes, ...config } = options;
    const tensorflow = await preloadLibrary(library ?? (await requireLibrary()));
    const model = await loadSavedModel(tensorflow.api, directory, tags, config);
    const limits = {
      maxStrings: maxOutputStrings ?? Number.POSITIVE_INFINITY,
      maxBytes: maxOutputBytes ?? Number.POSITIVE_INFINITY,
    };
    return new SavedModelSession(
      tensorflow,
      model,
      await devicesOf(tensorflow.api, model.session),
      limits,
      config,
      await costsOf(model, directory),
    );
  }

  /**
   * Computes outputs of a signature. Inputs with a default in the SavedModel may be left out. The inputs are copied when the run's turn comes: leave them as they
   * are until the promise settles.
   *
   * @throws LibTensorFlowError UNKNOWN_SIGNATURE, UNKNOWN_INPUT, MISSING_INPUT, UNKNOWN_OUTPUT,
   * WRONG_DTYPE, WRONG_SHAPE, TOO_MANY_STRINGS, TOO_MANY_BYTES, SESSION_CLOSED, or RUN_FAILED with TensorFlow's message
   */
  async run(signatureKey: string, inputs: TensorMap, options: RunOptions = {}): Promise<RunResult> {
    const { signal } = options;
    signal?.throwIfAborted();
    if (this.#closed) {
      throw new LibTensorFlowError(
        'SESSION_CLOSED',
        'this session is closed. Load the model again.',
      );
    }
    const signature = this.#signature(signatureKey);
    const given = { ...this.#defaults.get(signatureKey), ...inputs };
    checkInputs(signature, given);
    const outputs = checkOutputs(signature, options.outputs);
    const course = this.#courseOf(signatureKey, given, outputs);
    const { api } = this.#tensorflow;
    const runOptions = () => this.#runOptions(signatureKey, signal?.deadline);
    const manner = { limits: this.#limits, course, options: runOptions };
    const runNow = (taken: TensorMap) =>
      runGraph(api, this.#model, signature, taken, outputs, manner);
    const waiting = course?.isQuick ? undefined : droppable(given, signal);
    const running = waiting ? enqueueRun(() => runNow(waiting.take())) : runNow(given);
    this.#track(running);
    return signal ? abortable(running, signal) : running;
  }

  /** Waits for runs in flight, then frees the model. Outputs of earlier runs stay valid. */
  close(): Promise<void> {
    this.#closed ??= this.#free();
    return this.#closed;
  }

  async #free(): Promise<void> {
    await Promise.allSettled(this.#inFlight);
    const { api } = this.#tensorflow;
    await withStatus(api, (status) => api.TF_CloseSession(this.#model.session, status));
    await withStatus(api, (status) => api.TF_DeleteSession(this.#model.session, status));
    await api.TF_DeleteGraph(this.#model.graph);
    await deleteKeptInputs();
  }

  /** A deadline needs another thread than the calling one, and so costs time: only what may be endless has one. */
  #runOptions(signature: string, deadline: number | undefined): Pointer | null {
    const { api } = this.#tensorflow;
    const isEndless = this.#endless?.has(signature) ?? true;
    if (isEndless && deadline !== undefined) return endingAt(api, deadline);
    return this.#isInCallingThread ? inCallingThread(api) : null;
  }

  #signature(key: string) {
    const signature = own(this.signatures, key);
    if (signature) return signature;
    const known = Object.keys(this.signatures).map((name) => `"${name}"`);
    throw new LibTensorFlowError(
      'UNKNOWN_SIGNATURE',
      `the model has no signature "${key}", only ${known.join(', ') || 'none'}.`,
    );
  }

  #track(running: Promise<unknown>): void {
    this.#inFlight.add(running);
    const forget = () => this.#inFlight.delete(running);
    running.then(forget, forget);
  }
}

/**
 * Quick runs, where TensorFlow needs no thread but the caller's: a run that waits for one of its pool, which another
 * model's run may hold, must not be waited for by the event loop.
 */
function courseOf(
  { interOpThreads, intraOpThreads }: SessionConfig,
  costs: SignatureCosts | undefined,
): CourseOf {
  if (interOpThreads !== IN_CALLING_THREAD || intraOpThreads !== 1) return () => undefined;
  return costs ? quickRuns(costs.varying) : () => undefined;
}

/** Undefined for a graph that cannot be read here, such as one in text, which TensorFlow reads. */
async function costsOf(
  { metaGraph }: NativeModel,
  directory: string,
): Promise<SignatureCosts | undefined> {
  try {
    return await signatureCostsInTurns(directory, signatureMapOf(metaGraph));
  } catch {
    return undefined;
  }
}

async function requireLibrary(): Promise<LibraryLocation> {
  const library = await findLibrary();
  if (library) return library;
  throw new LibTensorFlowError(
    'LIBRARY_NOT_FOUND',
    "TensorFlow's library is not on this machine. Have it fetched with ensureLibrary(), install " +
      'tensorflow for python3, or set LIBTENSORFLOW_PATH to the directory that holds it.',
  );
}
