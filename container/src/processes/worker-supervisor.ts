/** Keeps the workers running: restarts with backoff those that end. */

import type { ChildProcess } from 'node:child_process';
import cluster, { type Worker } from 'node:cluster';
import type { Logger } from 'pino';
import { START_ERRORS, StartError, type StartErrorCode } from '../errors.ts';
import { startWatchdog } from '../model-server/watchdog.ts';
import type { ModelSource } from '../multi-model/model-table.ts';
import { type Failure, laterFailure } from '../waiting/failure.ts';
import { Restarts } from '../waiting/restarts.ts';
import { FatalRuns } from './fatal-runs.ts';
import type { FrontDoor } from './front-door.ts';
import {
  LISTENS_WHEN_READY,
  type PrimaryMessage,
  RUN_VERDICTS,
  type WorkerMessage,
} from './messages.ts';

/** What the supervisor runs. */
interface WorkerSupervisorOptions {
  readonly count: number;
  /** Added to the environment of every worker. */
  readonly variables: Readonly<Record<string, string>>;
  readonly log: Logger;
  /** Hands connections to the workers. */
  readonly door: FrontDoor;
  /** How long a worker may take until it takes connections, where it does so before its models are loaded, in ms. */
  readonly waitMs: number;
}

interface Slot {
  readonly index: number;
  worker: Worker | undefined;
  ended: Promise<void>;
  startedAt: number;
  isReady: boolean;
  isListening: boolean;
}

const FIRST_DELAY_MS = 100;
/** Beyond the wait, in ms: a worker starts first, and one whose event loop turns says itself what it waited for. */
const LAST_WORDS_MS = 5000;
/** A worker that ran this long starts over with the first delay. */
const STABLE_MS = 60_000;

/** Supervises a number of workers that share the port. */
export class WorkerSupervisor {
  /** Rejects where a worker could not start before any was ever ready: others will not either. */
  readonly failed: Promise<never>;
  readonly #fail: Failure['fail'];
  readonly #options: WorkerSupervisorOptions;
  readonly #slots: readonly Slot[];
  readonly #restarts = new Restarts(FIRST_DELAY_MS);
  /** Models of a multi-model endpoint, as its worker last reported them. */
  #models: readonly ModelSource[] = [];
  readonly #fatalRuns = new FatalRuns();
  #hasServed = false;
  #restarted = 0;

  constructor(options: WorkerSupervisorOptions) {
    this.#options = options;
    this.#slots = Array.from({ length: options.count }, (_, index) => ({
      index,
      worker: undefined,
      ended: Promise.resolve(),
      startedAt: 0,
      isReady: false,
      isListening: false,
    }));
    const { failed, fail } = laterFailure();
    this.failed = failed;
    this.#fail = fail;
  }

  /** The first worker listens at once, so that /ping answers; the others once they can serve. */
  start(): void {
    for (const slot of this.#slots) this.#fork(slot, slot.index > 0);
  }

  /** Workers that run, also those that are starting. */
  get running(): Worker[] {
    return this.#slots.flatMap(({ worker }) => worker ?? []);
  }

  /** Workers whose models can be called. */
  get ready(): Worker[] {
    return this.#slots.flatMap(({ worker, isReady }) => (worker && isReady ? [worker] : []));
  }

  /** How often a worker ended and was started again. */
  get restarts(): number {
    return this.#restarted;
  }

  /** Has the workers finish what is in flight; kills those that take longer than `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#restarts.stop();
    const signal = (name: NodeJS.Signals) => {
      for (const { worker } of this.#slots) worker?.process.kill(name);
    };
    signal('SIGTERM');
    const timer = setTimeout(signal, graceMs, 'SIGKILL');
    await Promise.all(this.#slots.map(({ ended }) => ended));
    clearTimeout(timer);
  }

  #variables(listensWhenReady: boolean): Record<string, string> {
    const { verdicts } = this.#fatalRuns;
    return {
      ...this.#options.variables,
      [LISTENS_WHEN_READY]: String(listensWhenReady),
      ...(verdicts && { [RUN_VERDICTS]: JSON.stringify(verdicts) }),
    };
  }

  #fork(slot: Slot, listensWhenReady: boolean): void {
    const { log, door, waitMs } = this.#options;
    const states = door.createStates();
    cluster.setupPrimary({ stdio: ['inherit', 'inherit', 'inherit', 'ipc', states] });
    const worker = cluster.fork(this.#variables(listensWhenReady));
    this.#fatalRuns.attend(worker, () => this.running);
    Object.assign(slot, { worker, startedAt: Date.now(), isReady: false, isListening: false });
    log.info({ worker: worker.id, pid: worker.process.pid, listensWhenReady }, 'worker started');
    const watchdog = watch(worker);
    door.attend(worker, states);
    let reported: StartError | undefined;
    const stuck = listensWhenReady
      ? undefined
      : setTimeout(() => {
          reported = new StartError('WORKER_FAILED', neverLoaded(waitMs));
          worker.process.kill('SIGKILL');
        }, waitMs + LAST_WORDS_MS);
    worker.on('message', (message: WorkerMessage) => {
      if (message.kind === 'failed') reported = startError(message);
      if (message.kind === 'models') this.#models = message.models;
      if (message.kind === 'asks-models') {
        const answer: PrimaryMessage = { kind: 'models', models: this.#models };
        worker.send(answer, () => undefined);
      }
      if (message.kind === 'accepts') {
        clearTimeout(stuck);
        slot.isListening = true;
      }
      if (message.kind !== 'ready') return;
      slot.isReady = true;
      this.#hasServed = true;
      log.debug({ worker: worker.id }, 'worker ready');
    });
    slot.ended = new Promise((resolve) => {
      const ended = (reason: string, isFinal: boolean) => {
        watchdog?.kill('SIGKILL');
        clearTimeout(stuck);
        const hasServed = slot.isReady;
        Object.assign(slot, { worker: undefined, isReady: false, isListening: false });
        resolve();
        if (!this.#restarts.stopped)
          this.#ended(
            slot,
            reported ?? new StartError('WORKER_FAILED', `worker ${worker.id} ${reason}`),
            isFinal,
            hasServed,
          );
      };
      worker.once('error', (error) => {
        if (worker.process.pid === undefined) ended(`could not start: ${error.message}`, true);
      });
      worker.once('exit', (status: number, signal: string | null) => {
        if (signal) ended(`was killed by ${signal}`, reported !== undefined);
        else ended(`ended with status ${status}`, true);
      });
    });
  }

  /** @param isFinal whether it ended by itself and would again, where none has ever served */
  #ended(slot: Slot, reason: StartError, isFinal: boolean, hasServed: boolean): void {
    if (isFinal && !this.#hasServed) {
      this.#fail(reason);
      return;
    }
    // What a request did to a worker that served is no reason to let others wait.
    if (hasServed || Date.now() - slot.startedAt > STABLE_MS) this.#restarts.reset(slot.index);
    const restartInMs = this.#restarts.schedule(slot.index, () => {
      this.#restarted += 1;
      this.#fork(
        slot,
        this.#slots.some(({ isListening }) => isListening),
      );
    });
    this.#options.log.error({ restartInMs }, reason.message);
  }
}

function watch({ process: { pid } }: Worker): ChildProcess | undefined {
  return pid === undefined ? undefined : startWatchdog(String(pid));
}

/** What a worker has reported; errors with other codes than those of the start are the worker's. */
function startError({ code = '', message }: { code?: string; message: string }): StartError {
  const isOurs = Object.hasOwn(START_ERRORS, code);
  return new StartError(isOurs ? (code as StartErrorCode) : 'WORKER_FAILED', message);
}

function neverLoaded(waitMs: number): string {
  return `a worker did not come to listen within ${waitMs / 1000} s (SAGEMAKER_TFS_WAIT_TIME_SECONDS), and is killed. The top level of the handler, or of a module that it imports, does not come to an end.`;
}
