/** What both transports throw where the model server is gone. */

/** The connection failed before the call was answered; another attempt may succeed. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
  /** Whether the server may have begun to work on the call; false where it never got all of it. */
  readonly wasSent: boolean;

  constructor(message: string, options?: ErrorOptions & { readonly wasSent?: boolean }) {
    super(message, options);
    this.wasSent = options?.wasSent ?? true;
  }
}
