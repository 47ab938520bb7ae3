/** Which outputs have the rows of their inputs: only such can be parted among the requests of a batch, or from padding. */
import type { TensorMap } from '@sagemaker-tfs/tensors';

/** Numbers of rows that an output must have had: four rows for four may be chance, where it always has four. */
const ENOUGH = 2;
/** Outputs that are remembered; those of a model are fewer. */
const MOST = 10_000;

/** What is known of outputs, by signature and name. The shapes of a signature promise rows; answers show them. */
export class OutputRows {
  readonly #onNone: (signature: string) => void;
  /** Numbers of rows with which the output had the same; false if it once had another. */
  readonly #seen = new Map<string, Set<number> | false>();

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
    const isKnown = (seen: Set<number> | false | undefined) =>
      seen !== false && seen !== undefined && (seen.size >= ENOUGH || seen.has(size));
    return known.every(isKnown) ? 'yes' : 'not yet';
  }

  /** @param rows of the inputs, padding among them */
  note(signature: string, outputs: TensorMap, rows: number): void {
    for (const [name, { shape }] of Object.entries(outputs)) {
      this.#noteOne(signature, name, rows, shape[0] === rows);
    }
  }

  #noteOne(signature: string, name: string, rows: number, hasRows: boolean): void {
    const key = keyOf(signature, name);
    const seen = this.#seen.get(key);
    if (seen === false || (hasRows && seen && seen.size >= ENOUGH)) return;
    if (this.#seen.size >= MOST) this.#seen.clear();
    if (hasRows) {
      this.#seen.set(key, (seen ?? new Set()).add(rows));
      return;
    }
    this.#seen.set(key, false);
    this.#onNone(signature);
  }
}

function keyOf(signature: string, output: string): string {
  return JSON.stringify([signature, output]);
}
