/**
 * Which calls go to which process of TensorFlow Serving, and when: first come, first served, a bounded number at a
 * time. TensorFlow Serving refuses what is beyond its threads instead of letting it wait; what it has refused waits here
 * and goes before all that came later.
 */
import type { AbortSignalLike } from '@sagemaker-tfs/tensors';
import { removeFrom } from '../memory/remove-from.ts';
import { orAborted } from '../waiting/or-aborted.ts';
import type { Capacity } from './capacity.ts';

/** Something that takes calls. */
export interface Place {
  /** Calls that it is working on, also those that nobody waits for any more. */
  inFlight: number;
  /** Works on one call that no other has been with. */
  isAlone: boolean;
  /** What it may be sent at a time. */
  readonly capacity: Capacity;
}

/** How a call waits. */
export interface WaitOptions {
  /**
   * Whether it must have its place for itself, before all other calls: a suspect, as it was in flight when a place ended.
   * Default: false.
   */
  readonly alone?: boolean;
  /** From {@link CallQueue.ticket}: calls go in this order, however often they wait. */
  readonly ticket: number;
  readonly signal?: AbortSignalLike | undefined;
}

interface Waiter<P> {
  readonly ticket: number;
  readonly resolve: (place: P) => void;
  readonly reject: (error: Error) => void;
}

/** How suspects are tried. */
interface TrialOptions {
  /** How long suspects may keep others waiting, all of them together, in ms. */
  readonly trialMs: number;
  /** What those get who have not had their turn by then. */
  readonly refusal: () => Error;
}

/** Hands out the places that are ready. */
export class CallQueue<P extends Place> {
  readonly #ready: () => readonly P[];
  readonly #waiting: Waiter<P>[] = [];
  readonly #waitingAlone: Waiter<P>[] = [];
  readonly #trial: TrialOptions;
  /** Places whose suspect no other call may join yet. */
  readonly #kept = new Set<P>();
  /** Runs while suspects may keep others waiting. */
  #trialEnd: NodeJS.Timeout | undefined;
  #trialBegan = 0;
  #trialUsedMs = 0;
  #tickets = 0;

  /** @param ready the places that take calls now */
  constructor(ready: () => readonly P[], trial: TrialOptions) {
    this.#ready = ready;
    this.#trial = trial;
  }

  /** Calls that wait. */
  get length(): number {
    return this.#waiting.length + this.#waitingAlone.length;
  }

  /** Whether a suspect waits, or works alone. */
  get hasSuspects(): boolean {
    return this.#waitingAlone.length > 0 || this.#kept.size > 0;
  }

  /** What a call that comes now waits with, each time. */
  ticket(): number {
    this.#tickets += 1;
    return this.#tickets;
  }

  /** A place where there is one at once and nobody waits; undefined otherwise. {@link free} returns it. */
  tryTake(): P | undefined {
    if (this.length > 0) return undefined;
    const place = this.#leastBusy();
    if (place) occupy(place);
    return place;
  }

  /** Resolves with a place in turn. @throws the signal's reason */
  take({ alone = false, ticket, signal }: WaitOptions): Promise<P> {
    return orAborted<P>(signal, ({ resolve, reject }) => {
      const list = alone ? this.#waitingAlone : this.#waiting;
      const waiter = { ticket, resolve, reject };
      list.splice(list.findLastIndex((other) => other.ticket < ticket) + 1, 0, waiter);
      this.dispatch();
      return () => {
        removeFrom(list, waiter);
        this.dispatch();
      };
    });
  }

  /** A place has answered the call that it was taken for; to be freed yet. */
  answered({ capacity, inFlight }: P): void {
    capacity.answered(inFlight);
  }

  /** A place had no thread for the call that it was taken for; to be freed yet. */
  refused({ capacity, inFlight }: P): void {
    capacity.refused(inFlight - 1, () => this.dispatch());
  }

  /** Frees a place. */
  free(place: P): void {
    place.inFlight -= 1;
    place.isAlone = false;
    if (this.#kept.delete(place) || this.length > 0) this.dispatch();
  }

  /** Serves those that wait; to be called when a place became ready. */
  dispatch(): void {
    while (this.#waitingAlone.length > 0) {
      const idle = this.#ready().find(
        ({ inFlight, capacity }) => inFlight === 0 && capacity.hasRoom(0),
      );
      if (!idle) break;
      idle.inFlight = 1;
      idle.isAlone = true;
      this.#kept.add(idle);
      this.#waitingAlone.shift()?.resolve(idle);
    }
    this.#timeTrial();
    // One place takes no more, so that it becomes free for the call that must be alone.
    const kept = this.#waitingAlone.length > 0 ? leastBusyOf(this.#ready()) : undefined;
    while (this.#waiting.length > 0) {
      const place = this.#leastBusy(kept);
      if (!place) return;
      occupy(place);
      this.#waiting.shift()?.resolve(place);
    }
  }

  /** Counts the time for which suspects keep others waiting: not while no place is ready, as nobody has a turn then. */
  #timeTrial(): void {
    const isOn = this.hasSuspects && this.#ready().length > 0;
    if (isOn && this.#trialEnd === undefined) {
      this.#trialBegan = performance.now();
      const left = Math.max(0, this.#trial.trialMs - this.#trialUsedMs);
      this.#trialEnd = setTimeout(() => this.#endTrial(), left).unref();
    }
    if (!isOn && this.#trialEnd !== undefined) {
      clearTimeout(this.#trialEnd);
      this.#trialEnd = undefined;
      this.#trialUsedMs += performance.now() - this.#trialBegan;
    }
    if (!this.hasSuspects) this.#trialUsedMs = 0;
  }

  /** Others may join the suspects at work; those that wait are refused. */
  #endTrial(): void {
    this.#kept.clear();
    for (const { reject } of this.#waitingAlone.splice(0)) reject(this.#trial.refusal());
    this.dispatch();
  }

  #leastBusy(kept?: P): P | undefined {
    return leastBusyOf(
      this.#ready().filter(
        (place) =>
          place !== kept && !this.#kept.has(place) && place.capacity.hasRoom(place.inFlight),
      ),
    );
  }
}

function occupy(place: Place): void {
  place.inFlight += 1;
  place.isAlone = false;
}

function leastBusyOf<P extends Place>(places: readonly P[]): P | undefined {
  return places.reduce<P | undefined>(
    (best, place) => (best === undefined || place.inFlight < best.inFlight ? place : best),
    undefined,
  );
}
