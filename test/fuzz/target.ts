/** What a parser must do with any bytes: read them, or refuse them with an error of its own. */
import type { Random } from './random.ts';

/** A parser of outside bytes. */
export interface Target {
  readonly name: string;
  /** Whole inputs, which are changed to make others. */
  seeds(): Promise<readonly Uint8Array[]>;
  /** Words of the format. */
  readonly tokens: readonly string[];
  /** Puts changed content into a right frame (checksums, lengths), so that it gets further; sometimes asked for. */
  frame?(content: Buffer): Buffer;
  /** Reads the bytes; gives something to compare. Throws an error of the parser's own for what it refuses. */
  read(bytes: Buffer, random: Random): unknown;
  /** Whether the error is a refusal, which names the client's fault. */
  isRefusal(error: unknown): boolean;
}
