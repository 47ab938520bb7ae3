/**
 * Runs of TensorFlow that end a worker, as the primary remembers them. Nobody is watched until a worker has ended by a fault.
 * From then on workers tell which runs are at work: those at an end are suspects, and are tried one at a time; one that is
 * alone at work at a second end is refused from then on. Beside others it stays a suspect: any of them may be the cause, also one
 * that nobody has seen before.
 */
import type { Worker } from 'node:cluster';
import { once } from 'node:events';
import { isFault } from '../model-server/process.ts';
import type { PrimaryMessage, RunVerdicts, WorkerMessage } from './messages.ts';

/** Runs of each kind that are remembered; older ones are forgotten. */
const MAX_REMEMBERED = 1_000;

/** What the primary knows of the runs of its workers. */
export class FatalRuns {
  readonly #suspects = new Set<string>();
  readonly #refused = new Set<string>();
  #isCareful = false;

  /** What a worker that starts now needs to know; undefined if no worker has ended by a fault yet. */
  get verdicts(): RunVerdicts | undefined {
    if (!this.#isCareful) return undefined;
    return { suspects: [...this.#suspects], refused: [...this.#refused] };
  }

  /** Watches the worker's runs. @param running the workers that are to know what its end shows */
  attend(worker: Worker, running: () => readonly Worker[]): void {
    const atWork = new Map<number, string>();
    worker.on('message', (message: WorkerMessage) => {
      if (message.kind === 'runs') atWork.set(message.id, message.fingerprint);
      if (message.kind !== 'has-run') return;
      const fingerprint = atWork.get(message.id);
      atWork.delete(message.id);
      if (fingerprint !== undefined) this.#suspects.delete(fingerprint);
    });
    // What it told last may be read after its end.
    const ends = [once(worker, 'exit'), once(worker, 'disconnect')];
    void Promise.all(ends).then(() => {
      const { signalCode } = worker.process;
      if (signalCode === null || !isFault(signalCode)) return;
      this.#isCareful = true;
      const isAlone = atWork.size === 1;
      for (const fingerprint of new Set(atWork.values())) {
        const isProven = this.#suspects.delete(fingerprint) && isAlone;
        remember(isProven ? this.#refused : this.#suspects, fingerprint);
      }
      const message: PrimaryMessage = { kind: 'verdicts', verdicts: this.verdicts as RunVerdicts };
      for (const other of running()) if (other.isConnected()) other.send(message, () => undefined);
    });
  }
}

function remember(set: Set<string>, fingerprint: string): void {
  set.add(fingerprint);
  const [oldest] = set;
  if (set.size > MAX_REMEMBERED && oldest !== undefined) set.delete(oldest);
}
