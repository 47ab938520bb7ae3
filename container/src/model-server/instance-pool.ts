/** The processes of TensorFlow Serving as the request path sees them: which are ready, which is least busy. */

import { setTimeout as delay } from 'node:timers/promises';
import type { BatchContext } from '@sagemaker-tfs/libtensorflow/joining';
import type { AbortSignalLike } from '@sagemaker-tfs/tensors';
import { StatusError } from '@sagemaker-tfs/tensors/status-error';
import { ConnectionLost } from '../transport/connection-lost.ts';
import { UnusableReply } from '../transport/unusable-reply.ts';
import { ReadyGate } from '../waiting/ready-gate.ts';
import { CallQueue, type WaitOptions } from './call-queue.ts';
import type { ModelServerEndpoint } from './endpoint.ts';
import {
  endedTogether,
  endedTwice,
  endsServer,
  hadNoTurn,
  neverSent,
  unusable,
} from './lost-calls.ts';
import { endedByItself, type ProcessEnd } from './process.ts';
import { hadNoThread, untilSeen, wasUnsent } from './unseen.ts';
import { type Instance, type InstanceOptions, lose, watchedInstance } from './watched-instance.ts';

/** What the pool is made of. */
export interface InstancePoolOptions extends InstanceOptions {
  readonly endpoints: readonly ModelServerEndpoint[];
  /** How long {@link InstancePool.whenReady} waits, in ms. */
  readonly waitMs: number;
  /** How long calls that were in flight when an instance ended may keep others waiting, in ms. Default: 5000. */
  readonly trialMs?: number;
  /** Whether {@link InstancePool.ended} receives how processes end, and only calls can be the cause now. Default: no. */
  readonly knowsCause?: (() => boolean) | undefined;
  /** Called for a call that had no thread, and waits again; `most` are sent to an instance at a time from now on. */
  readonly onRefused?: ((index: number, most: number) => void) | undefined;
}

/**
 * One call. Of a call that is given up while the server works on it, `onAbandoned` says when it has ended: it keeps
 * its place until then.
 */
export type PoolWork<T> = (
  instance: Instance,
  onAbandoned: (ended: Promise<void>) => void,
) => Promise<T>;

/** How a call is made. */
interface UseOptions {
  readonly signal?: AbortSignalLike | undefined;
  /** Calls that are joined in it. Default: it is one, for the first time. */
  readonly batch?: BatchContext | undefined;
}

/** Attempts at a call that never reached the server, each after a longer pause; and at one that finds no thread. */
const MAX_UNSEEN = 60;
/** Between two looks at whether an instance is ready, or how it ended. */
const LOOK_MS = 10;
/** From the end of a connection until it is known how the process ended: the kernel frees its memory in between. */
const END_MS = 2000;
/** Calls that were lost within this time were lost with the process that ended now, in ms. */
const JUST_MS = 1000;
/**
 * How long suspects may keep others waiting: most calls take a fraction of a second, so that dozens have their turn, and
 * a client whose call waits that long beside a restart still has its answer well within the usual limits of a minute.
 */
const TRIAL_MS = 5000;

/** Instances with their state; knows nothing of the processes behind the ports. */
export class InstancePool {
  readonly instances: readonly Instance[];
  readonly #options: InstancePoolOptions;
  readonly #gate: ReadyGate;
  readonly #queue: CallQueue<Instance>;
  readonly #closing = new AbortController();
  #refusals = 0;
  #ends = 0;
  /** Calls that were sent, each time. */
  #begun = 0;

  constructor(options: InstancePoolOptions) {
    this.#options = options;
    this.instances = options.endpoints.map((endpoint, index) =>
      watchedInstance(endpoint, index, options, () => {
        this.#gate.changed();
        this.#queue.dispatch();
      }),
    );
    const { trialMs = TRIAL_MS } = options;
    this.#queue = new CallQueue(() => this.#ready(), {
      trialMs,
      refusal: () => hadNoTurn(trialMs),
    });
    this.#gate = new ReadyGate({
      isReady: () => this.#ready().length > 0,
      reason: () => this.reason,
      waitMs: options.waitMs,
    });
  }

  /** Resolves when an instance is ready for the first time; never where none ever is. */
  get firstReady(): Promise<void> {
    return this.#gate.firstReady;
  }

  /** Calls that an instance had no thread for, so far. */
  get refusals(): number {
    return this.#refusals;
  }

  /** How often the process of an instance ended, so far. */
  get ends(): number {
    return this.#ends;
  }

  /** Begins to ask the instances for their state, for the first time after `delayMs`. */
  start(delayMs: number): void {
    for (const { readiness } of this.instances) readiness.start(delayMs);
  }

  /**
   * Why the pool is not healthy; undefined if it is. Every instance must have been ready once; after
   * that one is enough, because the others are being restarted; but that must have all models.
   */
  get reason(): string | undefined {
    const reasons = this.instances.map(({ readiness }) => readiness.reason);
    const missing = reasons.find((reason) => reason !== undefined);
    const started = this.instances.every(({ hasServed }) => hasServed);
    if (!started || !reasons.includes(undefined)) return missing;
    const serving = this.#ready();
    return serving.some(({ gone }) => gone === undefined) ? undefined : serving[0]?.gone;
  }

  /** Resolves once an instance can serve. @throws ServingError MODEL_NOT_READY after the wait time */
  whenReady(signal?: AbortSignalLike): Promise<void> {
    return this.#gate.whenReady(signal);
  }

  /** Resolves once this very instance can serve. @throws ServingError MODEL_NOT_READY after the wait time */
  whenInstanceReady({ readiness }: Instance): Promise<void> {
    return this.#gate.whenReady(this.#closing.signal, () => readiness.reason === undefined);
  }

  /**
   * Runs one call on the ready instance with the fewest in flight, in turn where all are busy. Where the model
   * server ends meanwhile the call is made once more, since inference has no side effects: alone this time, so
   * that a call that ends the server ends no other call with it. Joined calls are not made again: the caller runs
   * each alone. What it has no thread for waits again, before all that came later.
   * @throws ServingError MODEL_SERVER_GONE if the server ended twice, or with calls that are joined, or if others
   *   have waited long enough for calls that run alone; FATAL_REQUEST where the call has surely ended the server
   */
  async use<T>(work: PoolWork<T>, { signal, batch }: UseOptions = {}): Promise<T> {
    let alone = batch?.isAfterLoss === true;
    const ticket = this.#queue.ticket();
    const isJoined = batch !== undefined && batch.calls > 1;
    for (;;) {
      try {
        return await untilSeen(() => this.#attempt(work, { alone, ticket, signal }), {
          isUnseen: wasUnsent,
          isOver: (attempts) => attempts >= MAX_UNSEEN || this.#isClosed,
          signal,
        });
      } catch (error) {
        if (error instanceof UnusableReply) throw unusable(error, this.#options.maxReplyBytes);
        if (wasUnsent(error)) throw neverSent(error);
        if (!(error instanceof ConnectionLost)) throw error;
        if (isJoined && !this.#isClosed) throw endedTogether(error);
        if (alone || this.#isClosed) throw endedTwice(error);
        alone = true;
      }
    }
  }

  /** Tells from now on whether a call has been at work since. */
  watchCalls(): () => boolean {
    const begun = this.instances.some(({ inFlight }) => inFlight > 0) ? -1 : this.#begun;
    return () => this.#begun !== begun;
  }

  /** Resolves when no call is left that was in flight when an instance ended, and is tried again alone. */
  async whenTried(): Promise<void> {
    while (this.#queue.hasSuspects && !this.#isClosed) await delay(LOOK_MS);
  }

  /**
   * Tells how the process of an instance ended.
   * @param wasSole false if other processes of the runtime may have had calls there
   */
  ended(index: number, end: ProcessEnd, wasSole = true): void {
    const instance = this.instances[index];
    this.#ends += 1;
    if (instance) Object.assign(instance, { lastEnd: end, wasSole });
  }

  /** Whether an instance that has just ended may have worked on a call of this pool. */
  wasBusy(index: number): boolean {
    const instance = this.instances[index];
    if (!instance) return false;
    return instance.inFlight > 0 || performance.now() - instance.lostAt < JUST_MS;
  }

  /** Stops asking and closes the connections. */
  close(): void {
    this.#closing.abort(this.#gate.notReady());
    for (const { readiness, channel } of this.instances) {
      readiness.stop();
      channel.close();
    }
  }

  async #attempt<T>(work: PoolWork<T>, wait: WaitOptions): Promise<T> {
    let instance = (wait.alone ? undefined : this.#queue.tryTake()) ?? (await this.#place(wait));
    for (let attempts = 1; ; attempts += 1) {
      const { lastEnd } = instance;
      this.#begun += 1;
      let ended: Promise<void> | undefined;
      let again: Promise<Instance>;
      try {
        const answer = await work(instance, (promise) => {
          ended = promise;
        });
        this.#answered(instance);
        return answer;
      } catch (error) {
        if (!hadNoThread(error)) {
          this.#failed(instance, error);
          throw await this.#blamed(instance, error, lastEnd);
        }
        this.#refused(instance);
        if (attempts >= MAX_UNSEEN || this.#isClosed) throw error;
        // Before its place is freed, so that it is not overtaken.
        again = this.#queue.take(wait);
      } finally {
        const place = instance;
        if (ended) {
          void ended.then(() => {
            place.lostAt = performance.now();
            this.#queue.free(place);
          });
        } else this.#queue.free(place);
      }
      instance = await again;
    }
  }

  #answered(instance: Instance): void {
    instance.silentMs = 0;
    this.#queue.answered(instance);
  }

  #failed(instance: Instance, error: unknown): void {
    if (error instanceof ConnectionLost) {
      instance.lostAt = performance.now();
      lose(instance);
    } else if (error instanceof StatusError) this.#answered(instance);
  }

  /**
   * The error of a call, with the call blamed if it ended the process: it was in flight when one ended before, and alone
   * now, and the process ended by a fault of its own. Of a process that another one watches over nobody knows.
   */
  async #blamed(
    instance: Instance,
    error: unknown,
    before: ProcessEnd | undefined,
  ): Promise<unknown> {
    if (!(error instanceof ConnectionLost) || !error.wasSent || !instance.isAlone) return error;
    if (!this.#options.knowsCause?.()) return error;
    const until = performance.now() + END_MS;
    while (instance.lastEnd === before && performance.now() < until) await delay(LOOK_MS);
    const { lastEnd, wasSole } = instance;
    const isProven =
      wasSole && lastEnd !== undefined && lastEnd !== before && endedByItself(lastEnd);
    return isProven ? endsServer(lastEnd, error) : error;
  }

  #refused(instance: Instance): void {
    instance.silentMs = 0;
    this.#refusals += 1;
    this.#queue.refused(instance);
    this.#options.onRefused?.(this.instances.indexOf(instance), instance.capacity.most);
  }

  async #place(wait: WaitOptions): Promise<Instance> {
    await this.whenReady(wait.signal);
    return this.#queue.take(wait);
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  #ready(): Instance[] {
    return this.instances.filter(({ readiness }) => readiness.reason === undefined);
  }
}
