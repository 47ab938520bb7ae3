/**
 * How many calls one process of TensorFlow Serving is sent at a time: as many as allowed, until it refuses one because
 * all its threads (`--grpc_max_threads`) are at work; from then on what it has shown to take.
 */
import { setTimeout as delay } from 'node:timers/promises';

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 500;

/** Learns from what is refused and what is answered. */
export class Capacity {
  readonly #allowed: number;
  #most: number;
  /** Since the last change, while all of it was used. */
  #answers = 0;
  /** In a row. */
  #pauses = 0;
  #isPausing = false;

  /** @param allowed calls at a time if none is refused */
  constructor(allowed: number) {
    this.#allowed = allowed;
    this.#most = allowed;
  }

  /** Calls at a time. */
  get most(): number {
    return this.#most;
  }

  /** Whether one more may be sent to it. */
  hasRoom(inFlight: number): boolean {
    return !this.#isPausing && inFlight < this.#most;
  }

  /**
   * A call was refused while it works on `others`. One thread less than it has is used then, so that probes, loads
   * and other processes of the runtime find one too. Without others no answer tells when a thread is free, so the next
   * call is sent after a pause, longer each time; `onPaused` is called at its end.
   */
  refused(others: number, onPaused: () => void): void {
    this.#most = Math.min(this.#most, Math.max(1, others - 1));
    this.#answers = 0;
    if (others === 0) void this.#pause().then(onPaused);
  }

  /** A call was answered, one of `inFlight`. After each full round one more is tried. */
  answered(inFlight: number): void {
    this.#pauses = 0;
    if (this.#most === this.#allowed || inFlight < this.#most) return;
    this.#answers += 1;
    if (this.#answers < this.#most) return;
    this.#answers = 0;
    this.#most += 1;
  }

  async #pause(): Promise<void> {
    this.#isPausing = true;
    await delay(Math.min(FIRST_PAUSE_MS * 2 ** this.#pauses, LONGEST_PAUSE_MS));
    this.#pauses += 1;
    this.#isPausing = false;
  }
}
