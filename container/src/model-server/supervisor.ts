/** Keeps the processes of TensorFlow Serving running: restarts with backoff those that end. */
import type { Logger } from 'pino';
import { Restarts } from '../waiting/restarts.ts';
import { MODEL_SERVER_PROGRAM } from './command.ts';
import { howEnded, type ModelServerProcess, type ProcessEnd, startProcess } from './process.ts';

/** What the supervisor runs. */
export interface SupervisorOptions {
  /** Flags of every instance. */
  readonly instances: readonly (readonly string[])[];
  readonly env: NodeJS.ProcessEnv;
  readonly log: Logger;
  /** Whether the instance has ever served; one that ends by itself before that will not get better. */
  readonly hasServed: (index: number) => boolean;
  /** Called when an instance ended and will be restarted. */
  readonly onEnd: (index: number, reason: string, end: ProcessEnd) => void;
  /** Called when the start has failed for good, with the model server's own last lines. */
  readonly onStartFailure: (message: string) => void;
}

const FIRST_DELAY_MS = 250;
/** Deaths by a signal, but for the SIGKILL of a host without memory, after which the start has failed. */
const MOST_DEATHS = 3;

/** One process and its restarts. */
interface Slot {
  child: ModelServerProcess | undefined;
  /** Ends by a signal before it ever served. */
  deaths: number;
}

/** Supervises one process for each instance. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #slots: readonly Slot[];
  /** Delays grow with every end before an instance served. */
  readonly #restarts = new Restarts(FIRST_DELAY_MS);

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#slots = options.instances.map(() => ({
      child: undefined,
      deaths: 0,
    }));
  }

  start(): void {
    for (const [index, slot] of this.#slots.entries()) this.#run(index, slot);
  }

  /** Process ids of the instances that are running. */
  get pids(): number[] {
    return this.#slots.flatMap(({ child }) => (child?.pid === undefined ? [] : [child.pid]));
  }

  /** Ends all of them, by SIGKILL after `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#restarts.stop();
    await Promise.all(this.#slots.map(({ child }) => child?.stop(graceMs)));
  }

  /** Ends one that does nothing any more; it is restarted. */
  kill(index: number): void {
    void this.#slots[index]?.child?.stop(0);
  }

  /** Tells that one serves: where it ends after this, it ended at work, and is restarted soon. */
  serves(index: number): void {
    this.#restarts.reset(index);
  }

  #run(index: number, slot: Slot): void {
    const { env, log } = this.#options;
    const child = startProcess(MODEL_SERVER_PROGRAM, {
      args: this.#options.instances[index] ?? [],
      env,
      log: log.child({ source: MODEL_SERVER_PROGRAM, instance: index }),
    });
    slot.child = child;
    log.info({ source: MODEL_SERVER_PROGRAM, instance: index, pid: child.pid }, 'started');
    void child.ended.then((end) => {
      slot.child = undefined;
      if (!this.#restarts.stopped) this.#ended(index, slot, end);
    });
  }

  #ended(index: number, slot: Slot, end: ProcessEnd): void {
    const { log, hasServed, onEnd, onStartFailure } = this.#options;
    if (end.signal !== null && end.signal !== 'SIGKILL') slot.deaths += 1;
    const reason = describeEnd(end);
    if (!hasServed(index) && (end.signal === null || slot.deaths >= MOST_DEATHS)) {
      const often = end.signal === null ? '' : `, ${slot.deaths} times before it served`;
      onStartFailure([`${reason}${often}${adviceOn(end)}`, ...end.lastLines].join('\n'));
      return;
    }
    const restartInMs = this.#restarts.schedule(index, () => this.#run(index, slot));
    log.error({ instance: index, restartInMs }, reason);
    onEnd(index, reason, end);
  }
}

function adviceOn({ signal }: ProcessEnd): string {
  if (signal !== 'SIGILL') return '';
  return ': its build needs instructions that this processor lacks. Take an instance with a newer one.';
}

function describeEnd(end: ProcessEnd): string {
  const { startError } = end;
  if (startError?.code === 'ENOENT') {
    return `${MODEL_SERVER_PROGRAM} is not on PATH. Install TensorFlow Serving, or set SAGEMAKER_TFS_BACKEND=in-process.`;
  }
  if (startError) return `${MODEL_SERVER_PROGRAM} could not be started: ${startError.message}`;
  return `${MODEL_SERVER_PROGRAM} ${howEnded(end)}`;
}
