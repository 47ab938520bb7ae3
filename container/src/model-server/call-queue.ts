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
  /** Works on one call that no other may be with. */
  isAlone: boolean;
  /** What it may be sent at a time. */
  readonly capacity: Capacity;
}

/** How a call waits. */
export interface WaitOptions {
  /** Whether it must have its place for itself, before all other calls. Default: false. */
  readonly alone?: boolean;
  /** From {@link CallQueue.ticket}: calls go in this order, however often they wait. */
  readonly ticket: number;
  readonly signal?: AbortSignalLike | undefined;
}

interface Waiter<P> {
  readonly ticket: number;
  readonly resolve: (place: P) => void;
}

/** Hands out the places that are ready. */
export class CallQueue<P extends Place> {
  readonly #ready: () => readonly P[];
  readonly #waiting: Waiter<P>[] = [];
  readonly #waitingAlone: Waiter<P>[] = [];
  #tickets = 0;

  /** @param ready the places that take calls now */
  constructor(ready: () => readonly P[]) {
    this.#ready = ready;
  }

  /** Calls that wait. */
  get length(): number {
    return this.#waiting.length + this.#waitingAlone.length;
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
    if (place) place.inFlight += 1;
    return place;
  }

  /** Resolves with a place in turn. @throws the signal's reason */
  take({ alone = false, ticket, signal }: WaitOptions): Promise<P> {
    return orAborted<P>(signal, ({ resolve }) => {
      const list = alone ? this.#waitingAlone : this.#waiting;
      const waiter = { ticket, resolve };
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
    if (this.length > 0) this.dispatch();
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
      this.#waitingAlone.shift()?.resolve(idle);
    }
    // One place takes no more, so that it becomes free for the call that must be alone.
    const kept = this.#waitingAlone.length > 0 ? leastBusyOf(this.#ready()) : undefined;
    while (this.#waiting.length > 0) {
      const place = this.#leastBusy(kept);
      if (!place) return;
      place.inFlight += 1;
      this.#waiting.shift()?.resolve(place);
    }
  }

  #leastBusy(kept?: P): P | undefined {
    return leastBusyOf(
      this.#ready().filter(
        (place) => place !== kept && !place.isAlone && place.capacity.hasRoom(place.inFlight),
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
