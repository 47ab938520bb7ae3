/** Fortran order to C order: against the formula, element by element, and in linear time for every kind of shape. */
import { toRowMajor } from './row-major.ts';

/** What stands where in C order, by the definition of both orders. */
function byFormula(data: Uint8Array, shape: readonly number[], width: number): Uint8Array {
  const out = new Uint8Array(data.length);
  for (let to = 0; to < data.length / width; to++) {
    let rest = to;
    const index = shape
      .toReversed()
      .map((size) => {
        const at = rest % size;
        rest = (rest - at) / size;
        return at;
      })
      .reverse();
    let from = 0;
    let stride = 1;
    for (const [axis, size] of shape.entries()) {
      from += (index[axis] as number) * stride;
      stride *= size;
    }
    out.set(data.subarray(from * width, (from + 1) * width), to * width);
  }
  return out;
}

/** Bytes that rarely repeat, from the same start always. */
function noise(length: number, seed: number): Uint8Array {
  let state = seed + 1;
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 24;
  });
}

const WIDTHS = [1, 2, 3, 4, 8, 40];
const SHAPES: readonly (readonly number[])[] = [
  [],
  [1],
  [7],
  [0, 3],
  [3, 0],
  [1, 5, 1],
  [2, 3],
  [1, 2, 1, 3, 1],
  [2, 3, 4],
  [5, 4, 3, 2],
  [33, 65],
  [129, 130],
  [127, 3],
  [3, 4_099],
  [4_099, 3],
  [2, 1, 70, 2, 66],
  [65, 2, 33],
  [300, 1, 2, 17],
  [3, 66, 66],
  Array(13).fill(2),
  Array(8).fill(3),
  [...Array(20).fill(1), ...Array(10).fill(2), ...Array(20).fill(1)],
];

test.each(SHAPES.map((shape) => [JSON.stringify(shape), shape] as const))('%s', (_, shape) => {
  const count = shape.reduce((all, size) => all * size, 1);
  for (const width of WIDTHS) {
    const data = noise(count * width, width);
    const expected = Buffer.from(byFormula(data, shape, width));
    expect(expected.equals(toRowMajor(data, shape, width))).toBe(true);
    // From where no element is aligned.
    const moved = new Uint8Array(data.length + 1);
    moved.set(data, 1);
    expect(expected.equals(toRowMajor(moved.subarray(1), shape, width))).toBe(true);
  }
});

test('random shapes', () => {
  const random = noise(10_000, 7);
  let at = 0;
  for (let round = 0; round < 60; round++) {
    const rank = 2 + ((random[at++] as number) % 6);
    const most = [0, 0, 150, 25, 12, 7, 5, 4][rank] as number;
    const shape = Array.from({ length: rank }, () => 1 + ((random[at++] as number) % most));
    const width = WIDTHS[(random[at++] as number) % WIDTHS.length] as number;
    const data = noise(width * shape.reduce((all, size) => all * size, 1), round);
    const expected = Buffer.from(byFormula(data, shape, width));
    expect({ shape, width, same: expected.equals(toRowMajor(data, shape, width)) }).toEqual({
      shape,
      width,
      same: true,
    });
  }
});

test('what both orders have at the same place is not copied', () => {
  const data = noise(12, 1);
  expect(toRowMajor(data, [1, 3, 1], 4)).toBe(data);
});
