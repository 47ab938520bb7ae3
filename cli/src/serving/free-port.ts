import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { CommandError } from '../errors.ts';

/** A TCP port on this machine that nothing listens on at the moment. @throws CommandError PORT_REFUSED if none turns up */
export function freePort(): Promise<number> {
  return freePortRange(1);
}

/**
 * Makes sure that the runtime can have this port: else another program's answers would pass for its own.
 * @throws CommandError PORT_IN_USE or PORT_REFUSED, naming `--port`
 */
export async function requireFreePort(port: number): Promise<void> {
  try {
    await close(await listen(port));
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new CommandError(
        'PORT_IN_USE',
        `port ${port} is in use by another program. End it, or choose another port with --port.`,
      );
    }
    throw new CommandError(
      'PORT_REFUSED',
      `cannot listen on port ${port} (${code ?? message}). Choose another with --port.`,
    );
  }
}

/** Tries to find free neighbors before giving up. */
const TRIES = 50;
/**
 * Below the ports that systems give to outgoing connections (Linux from 32,768, others from 49,152): among those
 * thousands may be taken for a minute after their connection was closed.
 */
const SEARCHED = { from: 20_000, to: 32_768 };

/**
 * @param kept a port that may be free still, and is not to be among them
 * @returns the first of `count` neighboring free ports
 * @throws CommandError PORT_REFUSED if no such range turns up
 */
export async function freePortRange(count: number, kept?: number): Promise<number> {
  for (let left = TRIES; left > 0; left--) {
    const first = randomInt(SEARCHED.from, SEARCHED.to - count);
    const holdsKept = kept !== undefined && kept >= first && kept < first + count;
    if (!holdsKept && (await allFree(first, count))) return first;
  }
  throw new CommandError(
    'PORT_REFUSED',
    `no ${count} neighboring free ports were found on this machine. End programs that listen, and try again.`,
  );
}

async function allFree(first: number, count: number): Promise<boolean> {
  const probes: Server[] = [];
  try {
    for (let offset = 0; offset < count; offset++) probes.push(await listen(first + offset));
    return true;
  } catch {
    return false;
  } finally {
    await Promise.all(probes.map(close));
  }
}

async function listen(port: number): Promise<Server> {
  const server = createServer();
  const listening = once(server, 'listening');
  server.listen(port);
  await listening;
  return server;
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  await closed;
}
