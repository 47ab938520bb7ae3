/** In a worker: tells the primary of its runs once a worker has ended by a fault, and hears which to try alone or refuse. */
import { RunGuard } from '../backends/in-process/run-guard.ts';
import {
  type PrimaryMessage,
  RUN_VERDICTS,
  type RunVerdicts,
  type WorkerMessage,
} from './messages.ts';

/** The guard of this worker's runs. */
export function guardedRuns(): RunGuard {
  const guard = new RunGuard({
    begins: (id, fingerprint) => tell({ kind: 'runs', id, fingerprint }),
    ended: (id) => tell({ kind: 'has-run', id }),
  });
  const given = process.env[RUN_VERDICTS];
  if (given !== undefined) guard.heed(JSON.parse(given) as RunVerdicts);
  process.on('message', (message: PrimaryMessage) => {
    if (message.kind === 'verdicts') guard.heed(message.verdicts);
  });
  return guard;
}

/** Written to the pipe before the run begins, so that the primary has it whatever the run does. */
function tell(message: WorkerMessage): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}
