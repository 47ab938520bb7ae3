/** Pieces of a request, taken from the front in amounts that flow control allows. */

/** What is still to be sent of one message; the pieces are never copied. */
export class OutgoingMessage {
  readonly #pieces: Uint8Array[];
  #left: number;

  constructor(pieces: readonly Uint8Array[]) {
    this.#pieces = pieces.filter(({ byteLength }) => byteLength > 0);
    this.#left = this.#pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** Bytes not yet taken. */
  get left(): number {
    return this.#left;
  }

  /** The next `bytes`, as views. */
  take(bytes: number): Uint8Array[] {
    const taken: Uint8Array[] = [];
    let missing = Math.min(bytes, this.#left);
    this.#left -= missing;
    while (missing > 0) {
      const piece = this.#pieces[0] as Uint8Array;
      if (piece.byteLength > missing) {
        taken.push(piece.subarray(0, missing));
        this.#pieces[0] = piece.subarray(missing);
        return taken;
      }
      taken.push(piece);
      missing -= piece.byteLength;
      this.#pieces.shift();
    }
    return taken;
  }
}
