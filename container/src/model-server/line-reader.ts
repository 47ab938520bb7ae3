/** Reads lines within bounds: a long one is cut while it is read, and what comes too fast is dropped unread. */

/** Bytes of a line that are kept. */
const MAX_LINE_BYTES = 4096;
const NEWLINE = 10;
const NOTHING = Buffer.alloc(0);

/** Bytes and lines that may be worked on: these at once, and as many each second. */
export class LineBudget {
  readonly #most: Tokens;
  readonly #left: Tokens;
  #at = performance.now();
  #dropped = 0;

  constructor(most: Tokens) {
    this.#most = most;
    this.#left = { ...most };
  }

  /** Whether there is some left. What is taken then may be more. */
  get hasSome(): boolean {
    return this.#left.bytes > 0 && this.#left.lines > 0;
  }

  /** Notes the time, once for each piece of input. */
  refill(): void {
    const now = performance.now();
    const seconds = (now - this.#at) / 1000;
    this.#at = now;
    for (const key of ['bytes', 'lines'] as const) {
      this.#left[key] = Math.min(this.#most[key], this.#left[key] + seconds * this.#most[key]);
    }
  }

  take(bytes: number): void {
    this.#left.bytes -= bytes;
    this.#left.lines -= 1;
  }

  drop(bytes: number): void {
    this.#dropped += bytes;
  }

  /** Bytes dropped since this was asked last. */
  takeDropped(): number {
    const dropped = this.#dropped;
    this.#dropped = 0;
    return dropped;
  }
}

interface Tokens {
  bytes: number;
  lines: number;
}

/**
 * A function that takes pieces of a text as they arrive.
 * @param budgetNow what bounds the reading now; undefined: nothing does
 */
export function lineReader(
  onLine: (line: string) => void,
  budgetNow: () => LineBudget | undefined = () => undefined,
): (chunk: Buffer) => void {
  let kept: Buffer = NOTHING;
  let isSkipping = false;
  return (chunk) => {
    budgetNow()?.refill();
    for (let at = 0; at < chunk.length; ) {
      const budget = budgetNow();
      if (budget && !budget.hasSome) {
        budget.drop(chunk.length - at);
        kept = NOTHING;
        isSkipping = chunk.at(-1) !== NEWLINE;
        return;
      }
      const found = chunk.indexOf(NEWLINE, at);
      const end = found < 0 ? chunk.length : found;
      if (!isSkipping && kept.length < MAX_LINE_BYTES) {
        const more = chunk.subarray(at, Math.min(end, at + MAX_LINE_BYTES - kept.length));
        // A copy, so that the start of a line does not keep the whole piece.
        kept = kept.length === 0 && found >= 0 ? more : Buffer.concat([kept, more]);
      }
      budget?.take(end - at + 1);
      if (found >= 0) {
        if (!isSkipping) onLine(kept.toString('utf8').replace(/\r$/, ''));
        kept = NOTHING;
        isSkipping = false;
      }
      at = end + 1;
    }
  };
}

/** Keeps the last bytes of a text as they arrive. */
export class Tail {
  readonly #most: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    for (let first = this.#chunks[0]; first; first = this.#chunks[0]) {
      if (this.#bytes - first.length < this.#most) return;
      this.#chunks.shift();
      this.#bytes -= first.length;
    }
  }

  /** Its lines, oldest first; the first may be the end of one. */
  get lines(): string[] {
    const lines: string[] = [];
    const read = lineReader((line) => lines.push(line));
    for (const chunk of this.#chunks) read(chunk);
    read(Buffer.from('\n'));
    return lines;
  }
}
