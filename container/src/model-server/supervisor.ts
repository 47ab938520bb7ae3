/** Keeps the processes of TensorFlow Serving running: restarts with backoff those that end. */
import type { Logger } from 'pino';
import { StartError } from '../errors.ts';
import { Restarts } from '../waiting/restarts.ts';
import { MODEL_SERVER_PROGRAM } from './command.ts';
import type { ModelServerEndpoint } from './endpoint.ts';
import { closeSocket, openSocket, portNews, sayWhyClosed } from './listening.ts';
import { portProblem } from './ports.ts';
import { howEnded, type ModelServerProcess, type ProcessEnd, startProcess } from './process.ts';

/** One process that is kept running. */
interface SupervisedInstance {
  readonly flags: readonly string[];
  readonly endpoint: ModelServerEndpoint;
}

/** What the supervisor runs. */
export interface SupervisorOptions {
  readonly instances: readonly SupervisedInstance[];
  readonly env: NodeJS.ProcessEnv;
  readonly log: Logger;
  /** Lines of TensorFlow Serving below it are not logged: 1 leaves warnings, 2 errors. Default: 0. */
  readonly leastLevel?: number;
  /** Whether the instance has ever served; one that ends by itself before that will not get better. */
  readonly hasServed: (index: number) => boolean;
  /** Called when an instance ended, or could not be started again, and will be restarted. */
  readonly onEnd: (index: number, reason: string, end?: ProcessEnd) => void;
  /** Called when the start has failed for good, with the model server's own last lines or the port that is taken. */
  readonly onStartFailure: (error: Error) => void;
}

const FIRST_DELAY_MS = 250;
/** Deaths by a signal, but for the SIGKILL of a host without memory, after which the start has failed. */
const MAX_DEATHS = 3;

/** One process and its restarts. */
interface Slot extends SupervisedInstance {
  child: ModelServerProcess | undefined;
  /** Whether the process has all of its ports. */
  listens: boolean;
  /** Whether it, or an earlier one, had them. */
  hasListened: boolean;
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
    this.#slots = options.instances.map((instance) => ({
      ...instance,
      child: undefined,
      listens: false,
      hasListened: false,
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
    const { env, log, leastLevel } = this.#options;
    const child = startProcess(MODEL_SERVER_PROGRAM, {
      args: slot.flags,
      env,
      log: log.child({ source: MODEL_SERVER_PROGRAM, instance: index }),
      leastLevel,
      onLine: (line) => this.#heard(slot, line),
    });
    slot.child = child;
    slot.listens = false;
    log.info({ source: MODEL_SERVER_PROGRAM, instance: index, pid: child.pid }, 'started');
    void child.ended.then(async (end) => {
      slot.child = undefined;
      closeSocket(slot.endpoint);
      // Most likely why, where it never had them; and else it says so itself.
      const refused = slot.listens ? undefined : await portProblem(slot.endpoint);
      if (this.#restarts.stopped) return;
      if (refused) this.#refused(index, slot, refused);
      else this.#ended(index, slot, end);
    });
  }

  #heard(slot: Slot, line: string): void {
    const news = portNews(line, slot.endpoint);
    if (news === 'refused') void slot.child?.stop(0);
    if (news !== 'listens') return;
    slot.child?.serves();
    slot.listens = true;
    slot.hasListened = true;
    openSocket(slot.endpoint);
  }

  #refused(index: number, slot: Slot, error: Error): void {
    if (slot.hasListened) this.#restartLater(index, slot, error.message);
    else this.#options.onStartFailure(error);
  }

  #restartLater(index: number, slot: Slot, reason: string, end?: ProcessEnd): void {
    const restartInMs = this.#restarts.schedule(index, async () => {
      const refused = await portProblem(slot.endpoint);
      if (this.#restarts.stopped) return;
      if (refused) this.#refused(index, slot, refused);
      else this.#run(index, slot);
    });
    const { log, onEnd } = this.#options;
    log.error({ instance: index, restartInMs, over: end?.fatal }, reason);
    const why = end ? `${reason} and is restarting` : reason;
    sayWhyClosed(slot.endpoint, why);
    onEnd(index, why, end);
  }

  #ended(index: number, slot: Slot, end: ProcessEnd): void {
    const { hasServed, onStartFailure } = this.#options;
    if (end.signal !== null && end.signal !== 'SIGKILL') slot.deaths += 1;
    const reason = describeEnd(end);
    if (!hasServed(index) && (end.signal === null || slot.deaths >= MAX_DEATHS)) {
      const often = end.signal === null ? '' : `, ${slot.deaths} times before it served`;
      // The cause first: of a long text people, and pages of logs, see the beginning.
      const cause = adviceOn(end) ?? end.lastError;
      const lines = [
        `${reason}${often}${cause === undefined ? '' : `: ${cause}`}`,
        ...end.lastLines.filter((line) => line !== cause),
      ];
      onStartFailure(new StartError('MODEL_SERVER_FAILED', lines.join('\n')));
      return;
    }
    this.#restartLater(index, slot, reason, end);
  }
}

function adviceOn({ signal }: ProcessEnd): string | undefined {
  if (signal !== 'SIGILL') return undefined;
  return 'its build needs instructions that this processor lacks. Take an instance with a newer one.';
}

function describeEnd(end: ProcessEnd): string {
  const { startError } = end;
  if (startError?.code === 'ENOENT') {
    return `${MODEL_SERVER_PROGRAM} is not on PATH. Install TensorFlow Serving, or set SAGEMAKER_TFS_BACKEND=in-process.`;
  }
  if (startError) return `${MODEL_SERVER_PROGRAM} could not be started: ${startError.message}`;
  return `${MODEL_SERVER_PROGRAM} ${howEnded(end)}`;
}
