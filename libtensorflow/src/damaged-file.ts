/** Thrown where a file of a model is not what its name says. */
export class DamagedFile extends Error {
  override readonly name = 'DamagedFile';
  /** For example `it ends too early at byte 7 of 7`. */
  readonly what: string;

  constructor(path: string, what: string, options?: ErrorOptions) {
    super(`${path} is damaged or truncated: ${what}`, options);
    this.what = what;
  }
}
