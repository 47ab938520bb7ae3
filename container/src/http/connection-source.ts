/** Where a server's connections come from when it does not listen itself. */
import type { Socket } from 'node:net';

/** Hands over connections, and learns how far their requests are. */
export interface ConnectionSource {
  /** Port on which the connections came. */
  readonly port: number;
  /** From now on connections are given to `take`. */
  start(take: (socket: Socket) => void): void;
  /** No further ones. */
  stop(): void;
  /** A request has come, and no byte of its answer was sent yet. */
  requestBegan(socket: Socket): void;
  /** Its answer may be cut in the middle from now on. */
  answerBegan(socket: Socket): void;
  /** The connection is done with its answer. */
  requestDone(socket: Socket): void;
}
