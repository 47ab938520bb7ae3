/** Nested lists of numbers without the lists: what JSON of a large tensor is read as. */

/** Stands for nested arrays of numbers that have this shape, of one dimension or more, none of them 0. */
export class PackedNumbers {
  readonly shape: readonly number[];
  /** All elements in row-major order, over any number of arrays. */
  readonly runs: readonly Float64Array[];

  constructor(shape: readonly number[], runs: readonly Float64Array[]) {
    this.shape = shape;
    this.runs = runs;
  }

  /** The nested arrays that this stands for. */
  toArrays(): unknown[] {
    const { shape, runs } = this;
    let run = 0;
    let at = 0;
    const next = (): number => {
      if (at === runs[run]?.length) {
        run += 1;
        at = 0;
      }
      return runs[run]?.[at++] as number;
    };
    const list = (axis: number): unknown[] =>
      Array.from({ length: shape[axis] as number }, () =>
        axis === shape.length - 1 ? next() : list(axis + 1),
      );
    return list(0);
  }
}

/** The number of elements of a list, undefined for what is none. */
export function listLength(value: unknown): number | undefined {
  if (value instanceof PackedNumbers) return value.shape[0];
  return Array.isArray(value) ? value.length : undefined;
}
