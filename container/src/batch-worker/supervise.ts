/**
 * The process that supervises: TensorFlow or a handler can end the one that works, by a signal, an exit or an exception
 * that nobody catches, and the next one goes on from the last part. After such an end it asks about one object at a time and says which, until it is past the place; the
 * object that ends it again is not tried any more.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Environment } from '../environment.ts';
import { LAST_WORDS } from '../last-words.ts';
import { inProcessVariables } from '../processes/in-process-variables.ts';
import { modelDirectoryAt } from './archive.ts';
import type { WorkerOptions } from './options.ts';

/** JSON list of the keys that are not tried any more; there in the process that works. */
export const POISON = 'BATCH_WORKER_POISON';
/** Set where the process before this one ended by itself. */
export const CAUTIOUS = 'BATCH_WORKER_CAUTIOUS';
/** Status of a process whose model is gone. */
export const MODEL_GONE = 70;
/** Status after a signal that asks for an end, as shells count: whoever started the worker may start it again. */
const STOPPED = { SIGTERM: 143, SIGINT: 130 } as const;
type StopSignal = keyof typeof STOPPED;
/** Ends of processes that the supervisor puts up with. */
const MOST_ENDS = 20;
/** Of these, exits in a row at no object that is known: the cause is another. */
const MOST_BLIND_EXITS = 3;

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
    });
  }

  /** @param variables for the process that works @returns exit status */
  async run(variables: NodeJS.ProcessEnv): Promise<number> {
    let blind = 0;
    for (let ends = 0; ends <= MOST_ENDS; ends++) {
      if (this.#stoppedBy) return STOPPED[this.#stoppedBy];
      const { status, signal, key, isMeant } = await this.#runOne({
        ...variables,
        ...(ends > 0 && { [CAUTIOUS]: 'true' }),
      });
      if (this.#stoppedBy) return status === 0 ? 0 : STOPPED[this.#stoppedBy];
      if (status !== null && status !== MODEL_GONE && isMeant) return status;
      const at = key === undefined ? '' : ` at ${JSON.stringify(key)}`;
      const how = signal ?? (isMeant ? 'its model is gone' : `status ${status}`);
      say(`the worker's process ended (${how})${at}.`);
      if (key !== undefined) this.#poison.push(key);
      blind = key === undefined && signal === null && !isMeant ? blind + 1 : 0;
      if (blind === MOST_BLIND_EXITS) return status || 1;
    }
    say(`it ended ${MOST_ENDS + 1} times. What is written stays. Find the cause in the log.`);
    return 1;
  }

  /** Runs one process to its end. @returns how it ended, whether it meant to, and the key that it was at, if it said so */
  async #runOne(variables: NodeJS.ProcessEnv) {
    let key: string | undefined;
    let isMeant = false;
    const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: {
        ...process.env,
        ...inProcessVariables({ environment: this.#environment, variables: process.env }),
        ...variables,
        [POISON]: JSON.stringify(this.#poison),
      },
    });
    this.#child = child;
    child.on('message', (message) => {
      if (typeof message === 'object') isMeant = true;
      else key = message === '' ? undefined : String(message);
    });
    const [status, signal] = (await once(child, 'exit')) as [number | null, string | null];
    return { status, signal, key, isMeant };
  }
}

/** Says to the supervisor that this process is about to end because it is done, or knows why it cannot go on. */
export function tellMeantEnd(): Promise<void> {
  return new Promise((resolve) => process.send?.({ meant: true }, () => resolve()) ?? resolve());
}

function say(text: string): void {
  process.stderr.write(`${LAST_WORDS}${text}\n`);
}
