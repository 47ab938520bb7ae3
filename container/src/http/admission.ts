/**
 * How much is taken on at once. Beyond it a request is refused before its body is read, which costs less than
 * to begin what cannot be finished.
 */
import { ServingError } from '../errors.ts';

/** What one process takes on. */
export interface AdmissionLimits {
  /** Requests in flight. */
  readonly maxRequests: number;
  /** Bytes of bodies, tensors and answers, over all requests. */
  readonly maxHeldBytes: number;
}

/** A request that was let in. */
export interface Ticket {
  /** Bytes that it holds. */
  readonly heldBytes: number;
  /**
   * Bytes of the body that have arrived. What goes beyond the announced length is counted as it comes.
   * @throws ServingError OVERLOADED if there is no room for it
   */
  received(bytes: number): void;
  /** Counts bytes that the request holds besides its body, until it is released. Negative: it has them no more. */
  hold(bytes: number): void;
  /** The same, before they are held. @throws ServingError OVERLOADED if there is no room for them */
  take(bytes: number): void;
  /** Frees what is kept for bytes that were announced and have not come. */
  expectNothing(): void;
  /** The request holds nothing any more. Only the first call counts. */
  release(): void;
}

/** A body that alone is larger than the limit is let in while the others hold no more than this part of it. */
const SMALL_PART = 1 / 4;
/** Part of the limit that is kept for one announced body: a few clients that only announce must not shut others out. */
const KEPT_PART = 1 / 16;

/** Counts the requests in flight and the bytes they hold. */
export class Admission {
  readonly limits: AdmissionLimits;
  /** Called before a request is refused: ends one that others need not wait for. @returns whether there was one */
  reclaim: () => boolean = () => false;
  #requests = 0;
  #heldBytes = 0;

  /** @param limits Default: none. */
  constructor(limits: AdmissionLimits = { maxRequests: Infinity, maxHeldBytes: Infinity }) {
    this.limits = limits;
  }

  /** Requests in flight. */
  get requests(): number {
    return this.#requests;
  }

  /** Bytes that they hold, and those announced that are still to come. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /**
   * Lets a request in.
   * @param expected bytes that its body is announced to have; 0 where that is not known
   * @throws ServingError OVERLOADED
   */
  admit(expected: number): Ticket {
    while (this.#requests >= this.limits.maxRequests) {
      if (!this.reclaim()) throw tooManyRequests(this.#requests);
    }
    this.#makeRoom(expected, 0);
    const kept = Math.min(expected, this.limits.maxHeldBytes * KEPT_PART);
    this.#requests += 1;
    this.#heldBytes += kept;
    return this.#ticket(kept);
  }

  #ticket(expected: number): Ticket {
    let body = expected;
    let arrived = 0;
    let others = 0;
    let isIn = true;
    const count = (bytes: number) => {
      if (isIn) this.#heldBytes += bytes;
    };
    const hold = (bytes: number) => {
      count(bytes);
      others += bytes;
    };
    return {
      get heldBytes() {
        return isIn ? body + others : 0;
      },
      received: (bytes) => {
        arrived = bytes;
        if (bytes <= body) return;
        this.#makeRoom(bytes - body, body + others);
        count(bytes - body);
        body = bytes;
      },
      hold,
      take: (bytes) => {
        this.#makeRoom(bytes, body + others);
        hold(bytes);
      },
      expectNothing() {
        count(arrived - body);
        body = arrived;
      },
      release: () => {
        if (!isIn) return;
        count(-body - others);
        isIn = false;
        this.#requests -= 1;
      },
    };
  }

  /** @param own what the asking request holds already */
  #makeRoom(bytes: number, own: number): void {
    const { maxHeldBytes } = this.limits;
    const hasRoom = () =>
      bytes === 0 ||
      this.#heldBytes + bytes <= maxHeldBytes ||
      this.#heldBytes - own <= maxHeldBytes * SMALL_PART;
    while (!hasRoom()) {
      if (!this.reclaim()) throw tooManyBytes(maxHeldBytes);
    }
  }
}

function tooManyRequests(requests: number): ServingError {
  return new ServingError(
    'OVERLOADED',
    `${requests} requests are in flight, the limit of this process (SAGEMAKER_TFS_MAX_REQUESTS_IN_FLIGHT). Send the request again later.`,
  );
}

function tooManyBytes(maxHeldBytes: number): ServingError {
  return new ServingError(
    'OVERLOADED',
    `the requests in flight hold as many bytes as this process may keep, ${maxHeldBytes} (SAGEMAKER_TFS_MAX_HELD_BYTES). Send the request again later.`,
  );
}
