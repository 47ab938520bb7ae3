/**
 * The process that supervises: TensorFlow or a handler can end the one that works, by a signal, an exit or an exception
 * that nobody catches, and the next one continues from the last part. An input is blamed only if the process that crashed
 * had asked about nothing else, with all before it written: what a handler leaves behind may end the process later, at another
 * input. So the process after a crash writes small parts, and the one after that asks about one input at a time.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Environment } from '../environment.ts';
import { LAST_WORDS } from '../last-words.ts';
import { inProcessVariables } from '../processes/in-process-variables.ts';
import { STALLED_START } from '../processes/stall-watch.ts';
import { modelDirectoryAt } from './archive.ts';
import type { WorkerOptions } from './options.ts';

/** JSON list of the keys that are not tried any more; there in the process that works. */
export const POISON = 'BATCH_WORKER_POISON';
/** How cautious a process begins, where one before it ended by itself. */
export const CAUTION = 'BATCH_WORKER_CAUTION';
/** See `caution.ts`. */
export type CautionStage = 'walking' | 'alone';
/** What the process that works tells the one that supervises. */
export type Message =
  /** It asks about its first object. */
  | { readonly asks: true }
  /** The object that is alone under way, or the empty text; and whether it is the first that this process asks about. */
  | { readonly at: string; readonly isFirst: boolean }
  /** It is less cautious from now on. */
  | { readonly stage: CautionStage | 'none' }
  /** It is about to end because it is done, or knows why it cannot continue. */
  | { readonly meant: number };
/** Milliseconds after an answer in which the end of the process is the object's doing, if it was alone. */
export const QUIET = 1_000;
/** Status of a process whose model is gone. */
export const MODEL_GONE = 70;
/** Status after a signal that asks for an end, as shells count: whoever started the worker may start it again. */
const STOPPED = { SIGTERM: 143, SIGINT: 130 } as const;
type StopSignal = keyof typeof STOPPED;
/** Ends of processes that the supervisor puts up with; an object that is to blame costs four. */
const MAX_ENDS = 80;
/** Of these, ends in a row with no object that is to blame, and before the place was passed. */
const MAX_UNEXPLAINED = 8;
/** Exits in a row before any object was asked about: the cause is another. */
const MAX_BLIND_EXITS = 3;
/** Milliseconds after SIGTERM that a process has to end: one whose event loop stands still does not. */
const END_WITHIN = 30_000;

/** Runs a process that works, and another one after it where it ends by itself. @returns exit status */
export async function supervise(
  environment: Environment,
  { modelPath, pack }: WorkerOptions,
): Promise<number> {
  const supervisor = new Supervisor(environment);
  if (modelPath === undefined || pack) return supervisor.run({});
  const model = await modelDirectoryAt(modelPath);
  try {
    return await supervisor.run({ SAGEMAKER_TFS_MODEL_DIR: model.path });
  } finally {
    await model.remove();
  }
}

/** Calls on SIGTERM and on SIGINT, which then no longer end the process. */
export function onStopSignals(stop: (signal: StopSignal) => void): void {
  for (const name of Object.keys(STOPPED) as StopSignal[]) process.on(name, () => stop(name));
}

/** How a process ended. */
interface End {
  readonly status: number | null;
  readonly signal: string | null;
  /** Status with which it meant to end; undefined if it did not. */
  readonly meant: number | undefined;
  /** The object that was alone under way. */
  readonly key: string | undefined;
  /** Whether it is the first that the process asked about. */
  readonly isFirst: boolean;
  readonly hasAsked: boolean;
  /** How cautious it was in the end. */
  readonly stage: CautionStage | 'none';
}

class Supervisor {
  readonly #environment: Environment;
  /** Keys of the objects that ended a process. */
  readonly #poison: string[] = [];
  #child: ChildProcess | undefined;
  #stoppedBy: StopSignal | undefined;

  constructor(environment: Environment) {
    this.#environment = environment;
    onStopSignals((signal) => {
      this.#stoppedBy = signal;
      this.#child?.kill('SIGTERM');
      setTimeout(() => this.#child?.kill('SIGKILL'), END_WITHIN).unref();
    });
  }

  /** @param variables for the process that works @returns exit status */
  async run(variables: NodeJS.ProcessEnv): Promise<number> {
    let [blind, unexplained] = [0, 0];
    let caution: CautionStage | undefined;
    for (let ends = 0; ends <= MAX_ENDS; ends++) {
      if (this.#stoppedBy) return STOPPED[this.#stoppedBy];
      const end = await this.#runOne(variables, caution);
      const { status, signal, meant, key, hasAsked } = end;
      if (this.#stoppedBy) return (meant ?? status) === 0 ? 0 : STOPPED[this.#stoppedBy];
      if (meant !== undefined && meant !== MODEL_GONE) return meant;
      if (status === STALLED_START) return 1;
      const isToBlame = key !== undefined && end.isFirst;
      say(toldOf(end, isToBlame));
      if (isToBlame) this.#poison.push(key);
      // It came past the place where the one before had ended.
      if (isToBlame || end.stage === 'none') unexplained = 0;
      if (!isToBlame && ++unexplained === MAX_UNEXPLAINED) return giveUp();
      blind = !hasAsked && signal === null && meant === undefined ? blind + 1 : 0;
      if (blind === MAX_BLIND_EXITS) return giveUpAtStart(status || 1);
      caution = isToBlame || end.stage === 'none' ? 'walking' : 'alone';
    }
    say(`it ended ${MAX_ENDS + 1} times. What is written stays. Find the cause in the log.`);
    return 1;
  }

  /** Runs one process to its end. */
  async #runOne(variables: NodeJS.ProcessEnv, caution: CautionStage | undefined): Promise<End> {
    let [key, meant]: [string?, number?] = [];
    let [isFirst, hasAsked] = [false, false];
    let stage: End['stage'] = caution ?? 'none';
    const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: {
        ...process.env,
        ...inProcessVariables({ environment: this.#environment, variables: process.env }),
        ...variables,
        ...(caution && { [CAUTION]: caution }),
        [POISON]: JSON.stringify(this.#poison),
      },
    });
    this.#child = child;
    child.on('message', (message: Message) => {
      if ('meant' in message) meant = message.meant;
      else if ('stage' in message) stage = message.stage;
      else if ('asks' in message) hasAsked = true;
      else {
        key = message.at === '' ? undefined : message.at;
        isFirst = message.isFirst;
      }
    });
    const [status, signal] = (await once(child, 'exit')) as [number | null, string | null];
    return { status, signal, meant, key, isFirst, hasAsked, stage };
  }
}

function toldOf({ status, signal, meant, key }: End, isToBlame: boolean): string {
  const how = meant === undefined ? (signal ?? `status ${status}`) : 'its model is gone';
  const at = key === undefined ? '' : ` at ${JSON.stringify(key)}`;
  const but = key === undefined || isToBlame ? '' : ', which may be the doing of one before it';
  return `the worker's process ended (${how})${at}${but}.`;
}

function giveUpAtStart(status: number): number {
  say(
    `the worker's process ended ${MAX_BLIND_EXITS} times before it asked about any object, last with status ${status}. Nothing is lost, and the same command continues once it starts. Find the cause in the log: the handler or the model may end the process while it loads.`,
  );
  return status;
}

function giveUp(): number {
  say(
    `the worker's process ended ${MAX_UNEXPLAINED} times, and no object is known to be the cause: something ends it later than ${QUIET / 1_000} s after the answer, or without any. What is written stays, and the same command continues behind it. Find the cause in the log: a handler must await what it begins.`,
  );
  return 1;
}

/** Tells the process that supervises this one, if any. */
export function tellSupervisor(message: Message): Promise<void> {
  return new Promise((resolve) => process.send?.(message, () => resolve()) ?? resolve());
}

function say(text: string): void {
  process.stderr.write(`${LAST_WORDS}${text}\n`);
}
