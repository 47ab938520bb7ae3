/**
 * Which calls go to which process of TensorFlow Serving, and when: first come, first served, a bounded number at a
 * time. TensorFlow Serving refuses what is beyond its threads instead of letting it wait.
 */
import type { AbortSignalLike } from '@sagemaker-tfs/tensors';
import { removeFrom } from '../memory/remove-from.ts';
import { orAborted } from '../waiting/or-aborted.ts';

/** Something that takes calls. */
export interface Place {
  /** Calls that it is working on, also those that nobody waits for any more. */
  inFlight: number;
  /** Works on one call that no other may be with. */
  isAlone: boolean;
}

/** How a call waits. */
export interface WaitOptions {
  /** Whether it must have its place for itself, before all other calls. Default: false. */
  readonly alone?: boolean;
  /** Whether it goes before those that wait already. Default: false. */
  readonly first?: boolean;
  readonly signal?: AbortSignalLike | undefined;
}

type Waiter<P> = (place: P) => void;

/** Hands out the places that are ready. */
export class CallQueue<P extends Place> {
  readonly #most: number;
  readonly #ready: () => readonly P[];
  readonly #waiting: Waiter<P>[] = [];
  readonly #waitingAlone: Waiter<P>[] = [];

  /**
   * @param most calls that a place works on at a time
   * @param ready the places that take calls now
   */
  constructor(most: number, ready: () => readonly P[]) {
    this.#most = most;
    this.#ready = ready;
  }

  /** Calls that wait. */
  get length(): number {
    return this.#waiting.length + this.#waitingAlone.length;
  }

  /** A place where there is one at once and nobody waits; undefined otherwise. {@link free} returns it. */
  tryTake(): P | undefined {
    if (this.length > 0) return undefined;
    const place = this.#leastBusy();
    if (place) place.inFlight += 1;
    return place;
  }

  /** Resolves with a place in turn. @throws the signal's reason */
  take({ alone = false, first = false, signal }: WaitOptions = {}): Promise<P> {
    return orAborted<P>(signal, ({ resolve }) => {
      const list = alone ? this.#waitingAlone : this.#waiting;
      if (first) list.unshift(resolve);
      else list.push(resolve);
      this.dispatch();
      return () => {
        removeFrom(list, resolve);
        this.dispatch();
      };
    });
  }

  /** Frees a place. */
  free(place: P): void {
    place.inFlight -= 1;
    place.isAlone = false;
    if (this.length > 0) this.dispatch();
  }

  /** Serves those that wait; to be called when a place became ready. */
  dispatch(): void {
    while (this.#waitingAlone.length > 0) {
      const idle = this.#ready().find(({ inFlight }) => inFlight === 0);
      if (!idle) break;
      idle.inFlight = 1;
      idle.isAlone = true;
      this.#waitingAlone.shift()?.(idle);
    }
    // One place takes no more, so that it becomes free for the call that must be alone.
    const kept = this.#waitingAlone.length > 0 ? leastBusyOf(this.#ready()) : undefined;
    while (this.#waiting.length > 0) {
      const place = this.#leastBusy(kept);
      if (!place) return;
      place.inFlight += 1;
      this.#waiting.shift()?.(place);
    }
  }

  #leastBusy(kept?: P): P | undefined {
    return leastBusyOf(
      this.#ready().filter(
        (place) => place !== kept && !place.isAlone && place.inFlight < this.#most,
      ),
    );
  }
}

function leastBusyOf<P extends Place>(places: readonly P[]): P | undefined {
  return places.reduce<P | undefined>(
    (best, place) => (best === undefined || place.inFlight < best.inFlight ? place : best),
    undefined,
  );
}
