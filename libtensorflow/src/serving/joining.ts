/**
 * Joins concurrent requests of one signature: they wait until a batch is full or its time is up and a batch thread is free,
 * run together, and their outputs are parted again. Only what can be joined is; all else runs alone: requests of other
 * shapes, signatures with an axis that is not open, those that write what other requests read, and those whose
 * answers are others when joined, which the first batches show. TensorFlow Serving's own way is in batching.ts.
 */
import {
  type AbortSignalLike,
  own,
  type SignatureMap,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import { Code } from '@sagemaker-tfs/tensors/protos';
import { abortable } from '../abortable.ts';
import { untilAllAborted } from '../until-all-aborted.ts';
import type { BatchThreads } from './batch-queue.ts';
import { type AfterFailure, Batches } from './batches.ts';
import type { JoiningSessionOptions } from './batching-options.ts';
import { inTurn } from './in-turn.ts';
import { JoiningTrials, type Together, waysOf } from './joining-trials.ts';
import {
  batchSizeOf,
  bytesOf,
  type Joined,
  type Merged,
  mergeInputs,
  rowKind,
  splitInputs,
  total,
} from './merge-inputs.ts';
import {
  allResults,
  compare,
  hasRows,
  isOfRows,
  type JoinedParts,
  joinResults,
  releaseAll,
  splitOutputs,
} from './part-outputs.ts';
import { varietyOf } from './same-rows.ts';
import type { RunResult, Session } from './session.ts';
import { StatusError } from './status-error.ts';
import type { Trial } from './trials.ts';

export { untilAllAborted } from '../until-all-aborted.ts';
export { BatchThreads } from './batch-queue.ts';
export { type AfterFailure, Batches, type BatchItem } from './batches.ts';
export type { JoiningSessionOptions, WhyAlone } from './batching-options.ts';
export { halvesUnlessOver } from './halves-unless-over.ts';
export type { BatchContext, RunResult, Session } from './session.ts';

/** A session whose runs are joined. */
export class JoiningSession implements Session {
  readonly signatures: SignatureMap;
  readonly #session: Session;
  readonly #options: JoiningSessionOptions;
  readonly #batches: Batches<Joined, RunResult>;
  readonly #trials: JoiningTrials;
  /** Signatures with a trial under way of a batch larger than before. */
  readonly #growing = new Set<string>();

  constructor(session: Session, options: JoiningSessionOptions, threads: BatchThreads) {
    this.signatures = session.signatures;
    this.#session = session;
    this.#options = options;
    this.#batches = new Batches(options, threads, options.afterFailure);
    const { onAlone, random, writing } = options;
    writing?.then((signatures) => {
      for (const signature of signatures) onAlone?.(signature, 'writes');
    });
    this.#trials = new JoiningTrials((signature, why) => onAlone?.(signature, why), random);
  }

  async run(
    signature: string,
    inputs: TensorMap,
    outputs: readonly string[],
    signal?: AbortSignalLike,
  ): Promise<RunResult> {
    signal?.throwIfAborted();
    const writes = (await this.#options.writing)?.has(signature) === true;
    signal?.throwIfAborted();
    const joins = !writes && this.#joins(signature, inputs, outputs);
    if (!joins || this.#trials.isAlone('joined', signature, outputs)) {
      return this.#session.run(signature, inputs, outputs, signal);
    }
    const size = batchSizeOf(inputs);
    if (size > this.#options.maxBatchSize) {
      return this.#runSplit(signature, inputs, outputs, signal);
    }
    return this.#runInBatch(signature, { size, bytes: bytesOf(inputs), inputs, signal }, outputs);
  }

  async #runInBatch(
    signature: string,
    request: Joined,
    outputs: readonly string[],
  ): Promise<RunResult> {
    const { inputs, signal } = request;
    const rows = rowKind(inputs, this.#pads(signature, outputs));
    const kind = JSON.stringify([rows, signature, ...outputs]);
    const result = this.#batches.add(kind, request, (batch, { isAfterLoss }) =>
      this.#runJoined({ signature, outputs, batch, isAfterLoss }),
    );
    return signal ? abortable(result, signal) : result;
  }

  #pads(signature: string, outputs: readonly string[]): boolean {
    if (!this.#options.padVariableLengthInputs) return false;
    return !this.#trials.isAlone('padded', signature, outputs);
  }

  /**
   * Runs a request of more rows than a batch has in several, and joins their outputs. No more of its batches wait at a
   * time than can run, so that those of others come between them, and none runs for a caller who has gone. If its
   * outputs cannot be joined, it runs again whole. In a trial it runs whole as well, which is its answer then.
   */
  async #runSplit(
    signature: string,
    inputs: TensorMap,
    outputs: readonly string[],
    signal: AbortSignalLike | undefined,
  ): Promise<RunResult> {
    const { maxBatchSize, numBatchThreads } = this.#options;
    const parts = splitInputs(inputs, batchSizeOf(inputs), maxBatchSize);
    const together: Together = { ways: ['split'], sizes: parts.map(batchSizeOf) };
    const verdict = this.#trials.verdict(together, signature, outputs, () => 'many');
    const isTrial = verdict !== 'joined' || this.#trials.looksAgain('split', signature, 1);
    const results: RunResult[] = [];
    const whole = () => this.#session.run(signature, inputs, outputs, signal);
    try {
      await inTurn(parts, numBatchThreads, async (part, index) => {
        results[index] = await this.run(signature, part, outputs, signal);
      });
    } catch (error) {
      releaseAll(results);
      // What fails in parts may be right as it was sent: its rows may belong together.
      if (!this.#mayRunAgain(error)) throw error;
      return whole();
    }
    const joined = joinResults(outputs, results, together.sizes);
    if (!isTrial && isOfRows(joined)) return joined;
    try {
      return await this.#compareWhole(signature, inputs, { ...together, joined }, whole);
    } catch (error) {
      // It may be too large to run whole, and then its parts are all there is.
      const isSpare = verdict === 'larger' && isOfRows(joined);
      if (isSpare && this.#afterFailure(error) !== 'reject') return joined;
      joined.release();
      throw error;
    }
  }

  /** Answers with what the whole request gets, notes how its parts' outputs compare, and releases them then. */
  async #compareWhole(
    signature: string,
    inputs: TensorMap,
    parts: Together & { readonly joined: JoinedParts },
    whole: () => Promise<RunResult>,
  ): Promise<RunResult> {
    const result = await whole();
    if (parts.joined.version === result.version) {
      const variety = varietyOf(Object.values(inputs));
      const compared = compare(parts.joined.outputs, [result], [total(parts.sizes)], variety);
      this.#trials.note(parts, signature, { variety, outputs: compared });
    }
    parts.joined.release();
    return result;
  }

  #mayRunAgain(error: unknown): boolean {
    const isFull = error instanceof StatusError && error.code === Code.RESOURCE_EXHAUSTED;
    return !isFull && this.#afterFailure(error) === 'halves';
  }

  #afterFailure(error: unknown): AfterFailure {
    return this.#options.afterFailure?.(error) ?? 'reject';
  }

  /** Whether each tensor can be of any number of rows, and this request has as many in all as a batch may. */
  #joins(signatureKey: string, inputs: TensorMap, outputs: readonly string[]): boolean {
    const signature = own(this.signatures, signatureKey);
    const takes = signature?.inputs ?? {};
    const specs = [
      ...Object.values(takes),
      ...outputs.flatMap((name) => (signature && own(signature.outputs, name)) ?? []),
    ];
    const rows = Object.values(inputs).map(({ shape }) => shape[0] ?? 0);
    const [size = 0] = rows;
    const { maxBatchSize, maxInputRows = maxBatchSize } = this.#options;
    return (
      specs.every(({ shape }) => shape?.[0] === -1) &&
      // An input that is left to its default has rows of its own.
      Object.keys(takes).every((name) => Object.hasOwn(inputs, name)) &&
      size > 0 &&
      size <= maxInputRows &&
      rows.every((other) => other === size)
    );
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  async #runJoined(jobs: Omit<Call, 'signal'>): Promise<RunResult[]> {
    const merged = mergeInputs(jobs.batch, this.#options);
    const { signal, end } = untilAllAborted(jobs.batch);
    try {
      return await this.#runAsKnown({ ...jobs, signal }, merged);
    } finally {
      end();
    }
  }

  /** Together, alone, or both, by what is known of the signature's outputs. */
  async #runAsKnown(call: Call, merged: Merged): Promise<RunResult[]> {
    const { signature, outputs, batch, isAfterLoss } = call;
    const isOne = batch.length === 1;
    if (isOne && (merged.padding === 0 || isAfterLoss)) return this.#runApart(call);
    const together = togetherOf(call, merged);
    const variety = () => varietyOf(Object.values(merged.inputs));
    const verdict = this.#trials.verdict(together, signature, outputs, variety);
    if (verdict === 'alone') return this.#runApart(call);
    if (verdict === 'larger' && !isOne) return this.#runLarger(call, merged);
    const [way] = together.ways;
    const looksAgain =
      !isOne && way !== undefined && this.#trials.looksAgain(way, signature, batch.length);
    const isTrial = verdict !== 'joined' || looksAgain;
    try {
      return await (isTrial ? this.#runBoth(call, merged) : this.#runTogether(call, merged));
    } catch (error) {
      // Rows that belong together cannot be padded: what fails may be the padding.
      const isOfRows = error instanceof StatusError && error.code === Code.FAILED_PRECONDITION;
      if (!isOne || !(isOfRows || this.#mayRunAgain(error))) throw error;
      return this.#runApart(call);
    }
  }

  /**
   * A batch that is larger than those that were tried is a trial. While one is under way, others of the signature run in
   * halves: a burst costs one trial at a time.
   */
  async #runLarger(call: Call, merged: Merged): Promise<RunResult[]> {
    const { signature, batch } = call;
    if (this.#growing.has(signature)) {
      const run = (half: Call['batch']) =>
        this.#runAsKnown({ ...call, batch: half }, mergeInputs(half, this.#options));
      const middle = Math.ceil(batch.length / 2);
      const first = await run(batch.slice(0, middle));
      try {
        return [...first, ...(await run(batch.slice(middle)))];
      } catch (error) {
        releaseAll(first);
        throw error;
      }
    }
    this.#growing.add(signature);
    try {
      return await this.#runBoth(call, merged);
    } finally {
      this.#growing.delete(signature);
    }
  }

  #runApart(call: Call): Promise<RunResult[]> {
    for (const { size } of call.batch) {
      this.#options.onBatch?.({ requests: 1, rows: size, padding: 0 });
    }
    return this.#runAlone(call);
  }

  /** @throws StatusError FAILED_PRECONDITION if the outputs do not have the rows of the inputs */
  async #runTogether(call: Call, merged: Merged): Promise<RunResult[]> {
    const { sizes } = merged;
    const result = await this.#runMerged(call, merged);
    try {
      return splitOutputs(result, sizes, call.batch.length);
    } catch (error) {
      const odd = Object.entries(result.outputs).filter(([, tensor]) => !hasRows(tensor, sizes));
      const outputs = new Map(odd.map(([name]) => [name, 'other' as const]));
      this.#note(call, merged, { variety: varietyOf(Object.values(merged.inputs)), outputs });
      throw error;
    }
  }

  /** Together and each alone, which is the answer. Together first: if that fails, nothing has been answered yet. */
  async #runBoth(call: Call, merged: Merged): Promise<RunResult[]> {
    const together = await this.#runMerged(call, merged);
    try {
      const alone = await this.#runAlone(call);
      // A new version may have come in between.
      if (alone.every(({ version }) => version === together.version)) {
        const variety = varietyOf(Object.values(merged.inputs));
        const outputs = compare(together.outputs, alone, merged.sizes, variety);
        this.#note(call, merged, { variety, outputs });
      }
      return alone;
    } finally {
      together.release();
    }
  }

  #note(call: Call, merged: Merged, trial: Omit<Trial, 'reach'>): void {
    this.#trials.note(togetherOf(call, merged), call.signature, trial);
  }

  #runMerged({ signature, outputs, batch, signal, isAfterLoss }: Call, merged: Merged) {
    const { inputs, sizes, padding } = merged;
    const rows = total(sizes) - padding;
    this.#options.onBatch?.({ requests: batch.length, rows, padding });
    const context = { calls: batch.length, isAfterLoss };
    return this.#session.run(signature, inputs, outputs, signal, context);
  }

  /** Each request by itself, all at the same time. @throws the first error, when all are over */
  async #runAlone({ signature, outputs, batch, signal, isAfterLoss }: Call): Promise<RunResult[]> {
    const context = { calls: 1, isAfterLoss };
    return allResults(
      batch.map(({ inputs }) => this.#session.run(signature, inputs, outputs, signal, context)),
    );
  }
}

/** A batch to run. */
interface Call {
  readonly signature: string;
  readonly outputs: readonly string[];
  readonly batch: readonly Joined[];
  readonly signal: AbortSignalLike | undefined;
  readonly isAfterLoss: boolean;
}

function togetherOf({ batch }: Call, merged: Merged): Together {
  return { ways: waysOf({ ...merged, requests: batch.length }), sizes: merged.sizes };
}
