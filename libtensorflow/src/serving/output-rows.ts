/** Which outputs have the rows of their inputs: only such can be parted among the requests of a batch, or from padding. */
import type { TensorMap } from '@sagemaker-tfs/tensors';

/** Numbers of rows that an output must have had: four rows for four may be chance, where it always has four. */
const ENOUGH = 2;
/** Outputs that are remembered; those of a model are fewer. */
const MOST = 10_000;

/** An output of one answer. */
interface Seen {
  /** Of the inputs. */
  readonly rows: number;
  readonly shape: readonly number[];
}

/** What is known of outputs, by signature and name. The shapes of a signature promise rows; answers show them. */
export class OutputRows {
  readonly #onNone: (signature: string) => void;
  /** Answers with as many rows as their inputs; false if there was one with others. */
  readonly #seen = new Map<string, readonly Seen[] | false>();

  /** @param onNone called once for a signature with an output that has other rows */
  constructor(onNone: (signature: string) => void) {
    this.#onNone = onNone;
  }

  /**
   * Whether a request of `size` rows may be joined and padded: `never`, or `not yet`, where its answer, made alone,
   * tells something new.
   */
  joins(signature: string, outputs: readonly string[], size: number): 'yes' | 'not yet' | 'never' {
    const known = outputs.map((name) => this.#seen.get(keyOf(signature, name)));
    if (known.includes(false)) return 'never';
    const isKnown = (seen: readonly Seen[] | false | undefined) =>
      seen && (seen.length >= ENOUGH || seen.some(({ rows }) => rows === size));
    return known.every(isKnown) ? 'yes' : 'not yet';
  }

  /** @param rows of the inputs, padding among them */
  note(signature: string, outputs: TensorMap, rows: number): void {
    for (const [name, { shape }] of Object.entries(outputs)) {
      this.#noteOne(signature, keyOf(signature, name), { rows, shape });
    }
  }

  #noteOne(signature: string, key: string, answer: Seen): void {
    const seen = this.#seen.get(key) ?? [];
    if (seen === false) return;
    const hasRows = answer.shape[0] === answer.rows;
    const isNew = seen.length < ENOUGH && seen.every(({ rows }) => rows !== answer.rows);
    if (hasRows && !isNew) return;
    if (this.#seen.size >= MOST) this.#seen.clear();
    if (hasRows && !seen.some((other) => isSquare(other, answer))) {
      this.#seen.set(key, [...seen, answer]);
      return;
    }
    this.#seen.set(key, false);
    this.#onNone(signature);
  }
}

/** Whether a later dimension is the number of rows, too: each row has something of every other. */
function isSquare(one: Seen, other: Seen): boolean {
  return one.shape.some(
    (size, at) => at > 0 && size === one.rows && other.shape[at] === other.rows,
  );
}

function keyOf(signature: string, output: string): string {
  return JSON.stringify([signature, output]);
}
