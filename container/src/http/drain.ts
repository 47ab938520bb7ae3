/** The rest of a body that nobody reads. */
import type { IncomingMessage } from 'node:http';

/** Milliseconds of silence after which the rest of a refused body is not awaited. */
export const DRAIN_PAUSE_MS = 2000;

/**
 * Reads and forgets what is left of a body while it comes, for as long as `mostMs`: many clients look at the answer
 * only after they have sent everything, and would find their connection reset.
 */
export async function drain(request: IncomingMessage, mostMs: number): Promise<void> {
  if (request.destroyed) return;
  await new Promise<void>((resolve) => {
    const finish = () => {
      clearTimeout(pause);
      clearTimeout(end);
      request.off('data', onData).off('end', finish).off('close', finish);
      resolve();
    };
    const pause = setTimeout(finish, Math.min(DRAIN_PAUSE_MS, mostMs));
    const end = setTimeout(finish, mostMs);
    const onData = () => pause.refresh();
    request.on('data', onData).on('end', finish).on('close', finish);
    request.resume();
  });
}
