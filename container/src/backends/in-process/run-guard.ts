/** Keeps runs that have ended a process of TensorFlow from ending another: see `processes/fatal-runs.ts`. */
import { createHash, type Hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AbortSignalLike, isNumeric, type TensorMap } from '@sagemaker-tfs/tensors';
import { ServingError } from '../../errors.ts';
import { untilAborted } from '../../waiting/or-aborted.ts';
import { turnsByName } from '../../waiting/turns-by-name.ts';
import type { BackendRequest, ExamplesRequest } from '../backend.ts';

/** Receives runs that begin and end. */
interface RunListener {
  begins(id: number, fingerprint: string): void;
  ended(id: number): void;
}

/** Runs by their fingerprints. */
interface Verdicts {
  /** At work when a process ended: tried one at a time. */
  readonly suspects: readonly string[];
  /** At work at two ends, at the second alone. */
  readonly refused: readonly string[];
}

/** How long a suspect that runs keeps the next one waiting, in ms. */
const TURN_MS = 2_000;
/** From the end of a request until a run that it has left is no longer taken for one at work, in ms. */
const LEFT_MS = 10_000;

/** A guard does nothing until it is to heed something: fingerprints take time. */
export class RunGuard {
  readonly #listener: RunListener;
  readonly #inTurn = turnsByName();
  #suspects: Set<string> | undefined;
  #refused: ReadonlySet<string> = new Set();
  #runs = 0;

  constructor(listener: RunListener) {
    this.#listener = listener;
  }

  /** Watches runs from now on. */
  heed({ suspects, refused }: Verdicts): void {
    this.#suspects = new Set(suspects);
    this.#refused = new Set(refused);
  }

  /**
   * @param origin of the model that runs it: what is found out about one says nothing of the next in its place
   * @throws ServingError FATAL_REQUEST for a run that has ended two processes; and what the run throws
   */
  async use<T>(
    request: BackendRequest | ExamplesRequest,
    origin: string,
    run: () => Promise<T>,
  ): Promise<T> {
    if (!this.#suspects) return run();
    const fingerprint = fingerprintOf(request, origin);
    const watched = () => this.#watch(fingerprint, request.signal, run);
    if (!this.#suspects.has(fingerprint)) return watched();
    const alone = () => this.#tryInTurn(watched);
    return request.signal ? untilAborted(request.signal, alone) : alone();
  }

  /** One suspect after another, unless one takes long: its end, or how long it runs, says nothing of the others. */
  async #tryInTurn<T>(run: () => Promise<T>): Promise<T> {
    const begun = await this.#inTurn('suspects', async () => {
      const running = run();
      const over = new AbortController();
      const turn = sleep(TURN_MS, undefined, { signal: over.signal, ref: false });
      await Promise.race([running.catch(() => undefined), turn]);
      over.abort();
      turn.catch(() => undefined);
      return { running };
    });
    return begun.running;
  }

  async #watch<T>(
    fingerprint: string,
    signal: AbortSignalLike | undefined,
    run: () => Promise<T>,
  ): Promise<T> {
    if (this.#refused.has(fingerprint)) throw endsProcess();
    signal?.throwIfAborted();
    this.#runs += 1;
    const id = this.#runs;
    this.#listener.begins(id, fingerprint);
    try {
      return await run();
    } finally {
      if (signal?.aborted) setTimeout(() => this.#listener.ended(id), LEFT_MS).unref();
      else {
        this.#suspects?.delete(fingerprint);
        this.#listener.ended(id);
      }
    }
  }
}

function endsProcess(): ServingError {
  return new ServingError(
    'FATAL_REQUEST',
    'the request ended TensorFlow, and with it this process, more than once. Do not send it again: ask for less, or export a model that refuses such inputs.',
  );
}

/** The same for the same model, signature, outputs and values, all of them: others with some of them alike are no suspects. */
function fingerprintOf(request: BackendRequest | ExamplesRequest, origin: string): string {
  const hash = createHash('sha1');
  const { signature } = request;
  if ('examples' in request) {
    hash.update(JSON.stringify([origin, signature, request.method, request.examples.length]));
    addTexts(hash, request.examples);
  } else {
    hash.update(JSON.stringify([origin, signature, request.outputs]));
    addTensors(hash, request.inputs);
  }
  return hash.digest('base64');
}

function addTensors(hash: Hash, inputs: TensorMap): void {
  for (const [name, tensor] of Object.entries(inputs)) {
    hash.update(JSON.stringify([name, tensor.dtype, tensor.shape]));
    if (isNumeric(tensor)) hash.update(tensor.bytes);
    else addTexts(hash, tensor.values);
  }
}

function addTexts(hash: Hash, texts: readonly Uint8Array[]): void {
  for (const text of texts) hash.update(`${text.length}:`).update(text);
}
