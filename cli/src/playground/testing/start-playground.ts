import { freePort } from '../../serving/free-port.ts';
import { type ServeSession, startSession } from '../serve-session.ts';

/**
 * Serves a model with the playground, as `serve` does.
 * @param log file for the runtime's log
 */
export async function startPlayground(
  source: string,
  handler: string | undefined,
  log: string,
): Promise<ServeSession> {
  return startSession({
    source,
    handler,
    port: await freePort(),
    host: '127.0.0.1',
    environment: {},
    playground: true,
    log,
    signal: new AbortController().signal,
  });
}
