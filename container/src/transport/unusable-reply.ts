/** What both transports throw if an answer has come and cannot be used: another attempt would get the same. */
export class UnusableReply extends Error {
  override readonly name = 'UnusableReply';
  /** Whether it is larger than the caller accepts; otherwise it is not what the protocol says. */
  readonly isTooLarge: boolean;

  constructor(message: string, { isTooLarge = false } = {}) {
    super(message);
    this.isTooLarge = isTooLarge;
  }
}
