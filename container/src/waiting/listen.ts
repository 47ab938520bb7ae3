/** Listening, with errors that say what to set. */
import type { Server } from 'node:net';
import { StartError } from '../errors.ts';

/** Where a server listens. */
export interface ListenOptions {
  readonly port: number;
  /** Where the port is set, for messages. */
  readonly portVariable?: string;
  readonly address: string;
}

const LISTEN_PROBLEMS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use',
  EACCES: 'may not be taken by this user',
  EADDRNOTAVAIL: 'cannot be had: this machine has no such address',
};

/** Resolves when the server listens. @throws StartError PORT_REFUSED with the port's variable */
export async function listen(server: Server, options: ListenOptions): Promise<void> {
  const { port, address } = options;
  await new Promise<void>((resolve, reject) => {
    const onError = (error: Error) => reject(cannotListen(error, options));
    server.once('error', onError);
    server.listen(port, address, () => {
      server.off('error', onError);
      resolve();
    });
  });
}

function cannotListen(
  cause: NodeJS.ErrnoException,
  { port, portVariable, address }: ListenOptions,
): Error {
  const problem = LISTEN_PROBLEMS[cause.code ?? ''];
  if (!problem) return cause;
  const advice = portVariable ? ` ${portVariable} sets another.` : '';
  const message = `port ${port} of ${address} ${problem} (${cause.code}).${advice}`;
  return new StartError('PORT_REFUSED', message, { cause });
}
