/** Those who wait until models can be called. */
import type { AbortSignalLike } from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';
import { removeFrom } from '../memory/remove-from.ts';
import { orAborted } from './or-aborted.ts';

/** What a gate knows. */
interface ReadyGateOptions {
  readonly isReady: () => boolean;
  /** Why not, for messages. */
  readonly reason: () => string | undefined;
  /** How long {@link ReadyGate.whenReady} waits, in ms. */
  readonly waitMs: number;
}

/** The one place where readiness is waited for, whatever runs the models. */
export class ReadyGate {
  /** Resolves when models can be called for the first time; never where they never can. */
  readonly firstReady: Promise<void>;
  readonly #options: ReadyGateOptions;
  readonly #waiting: { readonly isReady: () => boolean; readonly open: () => void }[] = [];

  constructor(options: ReadyGateOptions) {
    this.#options = options;
    this.firstReady = new Promise((resolve) => {
      this.#waiting.push({ isReady: options.isReady, open: resolve });
    });
  }

  /** To be called whenever models may have become ready. */
  changed(): void {
    for (const one of this.#waiting.splice(0)) {
      if (one.isReady()) one.open();
      else this.#waiting.push(one);
    }
  }

  /**
   * Resolves once models can be called.
   * @param isReady asked instead, for what is a part of the whole
   * @throws ServingError MODEL_NOT_READY after the wait time
   */
  async whenReady(signal?: AbortSignalLike, isReady = this.#options.isReady): Promise<void> {
    const { waitMs } = this.#options;
    if (isReady()) return;
    await orAborted<void>(signal, ({ resolve, reject }) => {
      const one = {
        isReady,
        open: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      const giveUp = () => {
        clearTimeout(timer);
        removeFrom(this.#waiting, one);
      };
      const timer = setTimeout(() => {
        giveUp();
        reject(this.notReady());
      }, waitMs);
      this.#waiting.push(one);
      return giveUp;
    });
  }

  /** What they get who have waited long enough. */
  notReady(): ServingError {
    const { reason, waitMs } = this.#options;
    return new ServingError('MODEL_NOT_READY', `no model after ${waitMs / 1000} s: ${reason()}`);
  }
}
