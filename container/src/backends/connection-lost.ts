/** What both transports throw where the model server is gone. */

/** The connection failed before the call was answered; another attempt may succeed. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}
