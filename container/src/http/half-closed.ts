/**
 * Clients that have closed their half of the connection behind a request (`shutdown(SHUT_WR)`, `nc -N`) and wait for
 * the answer. TCP does not tell them from clients that are gone: only what is sent to these comes back as a reset. So
 * they are sent `100 Continue`, which every client of HTTP/1.1 ignores (RFC 9110, 15.2).
 */
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How long a client is waited for before it is tried, in ms; most answers are there by then. */
const FIRST_MS = 100;
/**
 * Most between two tries. The pauses grow: the second try finds the reset that the first one caused. A client of HTTP/1.0
 * cannot be tried; it counts as gone once the pause is this long, after 22 s.
 */
const LONGEST_MS = 10_000;

/** Node has this since its beginning, without a document. */
interface HalfOpen {
  httpAllowHalfOpen: boolean;
}

/**
 * Has the server answer half-closed clients, and notice those that are gone: their response closes.
 * @param responses all that have no whole answer yet
 */
export function answerHalfClosed(
  server: Server,
  responses: () => Iterable<{ readonly response: ServerResponse }>,
): void {
  (server as Server & HalfOpen).httpAllowHalfOpen = true;
  server.on('connection', (socket) => {
    const current = () => {
      for (const { response } of responses()) if (response.socket === socket) return response;
      return undefined;
    };
    socket.once('end', () => tryClient(socket, current, FIRST_MS));
  });
}

/** Tries a client until its answers are there or it is gone. */
function tryClient(
  socket: Socket,
  current: () => ServerResponse | undefined,
  delayMs: number,
): void {
  const timer = setTimeout(() => {
    const response = current();
    if (socket.destroyed || !response) return;
    // An answer that has begun is a try itself.
    if (!response.headersSent) {
      // Clients of HTTP/1.0 know no such answer.
      if (response.req.httpVersionMinor > 0) response.writeContinue();
      else if (delayMs >= LONGEST_MS) {
        socket.destroy();
        return;
      }
    }
    tryClient(socket, current, Math.min(2 * delayMs, LONGEST_MS));
  }, delayMs);
  timer.unref();
}
