/** Which outputs have the rows of their inputs: only such can be parted among the requests of a batch, or from padding. */
import type { TensorMap } from '@sagemaker-tfs/tensors';

/** Numbers of rows that an output must have had: four rows for four may be chance, where it always has four. */
const ENOUGH = 2;

/** An output of one answer. */
interface Seen {
  /** Of the inputs. */
  readonly rows: number;
  readonly shape: readonly number[];
}

/** What is known of outputs, by signature and name. The shapes of a signature promise rows; answers show them. */
export class OutputRows {
  readonly #onNone: (signature: string) => void;
  /** Of each output of a signature the answers with as many rows as their inputs; false if there was one with others. */
  readonly #seen = new Map<string, Map<string, readonly Seen[] | false>>();

  /** @param onNone called for each output that is found to have other rows */
  constructor(onNone: (signature: string) => void) {
    this.#onNone = onNone;
  }

  /**
   * Whether a request of `size` rows may be joined and padded: `never`, or `not yet`, where its answer, made alone,
   * tells something new.
   */
  joins(signature: string, outputs: readonly string[], size: number): 'yes' | 'not yet' | 'never' {
    const seenOf = this.#seen.get(signature);
    const known = outputs.map((name) => seenOf?.get(name));
    if (known.includes(false)) return 'never';
    const isKnown = (seen: readonly Seen[] | false | undefined) =>
      seen && (seen.length >= ENOUGH || seen.some(({ rows }) => rows === size));
    return known.every(isKnown) ? 'yes' : 'not yet';
  }

  /** @param rows of the inputs, padding among them */
  note(signature: string, outputs: TensorMap, rows: number): void {
    for (const [name, { shape }] of Object.entries(outputs)) {
      this.#noteOne(signature, name, { rows, shape });
    }
  }

  #noteOne(signature: string, name: string, answer: Seen): void {
    const seenOf = this.#seen.get(signature) ?? new Map<string, readonly Seen[] | false>();
    const seen = seenOf.get(name) ?? [];
    if (seen === false) return;
    const hasRows = answer.shape[0] === answer.rows;
    const isNew = seen.length < ENOUGH && seen.every(({ rows }) => rows !== answer.rows);
    if (hasRows && !isNew) return;
    this.#seen.set(signature, seenOf);
    if (hasRows && !seen.some((other) => isSquare(other, answer))) {
      seenOf.set(name, [...seen, answer]);
      return;
    }
    seenOf.set(name, false);
    this.#onNone(signature);
  }
}

/** Whether a later dimension is the number of rows, too: each row has something of every other. */
function isSquare(one: Seen, other: Seen): boolean {
  return one.shape.some(
    (size, at) => at > 0 && size === one.rows && other.shape[at] === other.rows,
  );
}
