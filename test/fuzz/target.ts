/** What a parser must do with any bytes: read them, or refuse them with an error of its own. */
import type { Random } from './random.ts';

/** A parser of outside bytes. */
export interface Target {
  readonly name: string;
  /** Whole inputs, which are changed to make others. */
  seeds(): Promise<readonly Uint8Array[]>;
  /** Most bytes of memory that reading takes for each byte of an input, beside {@link Target.ownMiB}. */
  readonly bytesPerByte: number;
  /** MiB that reading any input may take, such as the pixels that are allowed. Default: 48, the garbage of a while. */
  readonly ownMiB?: number;
  /** Words of the format. */
  readonly tokens: readonly string[];
  /**
   * An input by the format's own rules, in which some field may be wrong, but the lengths and sums around it are right.
   * @param reader the numbers that `read` will be given
   */
  build(random: Random, seeds: readonly Uint8Array[], reader: Random): Buffer | Promise<Buffer>;
  /** Reads the bytes; gives something to compare. Throws an error of the parser's own for what it refuses. */
  read(bytes: Buffer, random: Random): unknown;
  /** Whether the error is a refusal, which names the client's fault. */
  isRefusal(error: unknown): boolean;
}

/** Given back where an input is refused without an error. */
export class Refused extends Error {}
