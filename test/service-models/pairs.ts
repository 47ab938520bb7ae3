/** Rows of choices that hold every pair of choices of two fields which is possible. */

type Row = readonly number[];

/** Pairs of a row: field and choice of one, field and choice of the other. */
function pairsOf(row: Row): string[] {
  return row.flatMap((a, i) => row.slice(i + 1).map((b, j) => keyOf(i, a, i + 1 + j, b)));
}

const keyOf = (i: number, a: number, j: number, b: number) =>
  i < j ? `${i}:${a},${j}:${b}` : `${j}:${b},${i}:${a}`;

/**
 * Greedy: each row begins with a pair that no row has, and takes from each other field the choice with the most such
 * pairs. A row that is not taken is tried with fewer choices other than the first, down to its own pair alone.
 * @param sizes choices of each field; the first is the default, which goes with everything
 * @param takes whether a row is possible; a row that is taken is not asked for again
 * @param maybe whether two choices are possible together, where that is quicker to know
 */
export function coverPairs(
  sizes: readonly number[],
  takes: (row: Row) => boolean = () => true,
  maybe: (row: Row) => boolean = () => true,
): { rows: Row[]; impossible: Row[] } {
  const defaults = sizes.map(() => 0);
  const pair = (i: number, a: number, j: number, b: number) =>
    defaults.map((_, field) => (field === i ? a : field === j ? b : 0));
  const open = new Map<string, readonly [i: number, a: number, j: number, b: number]>();
  const rows: Row[] = [];
  const impossible: Row[] = [];
  for (const [i, first] of sizes.entries()) {
    for (const [more, second] of sizes.slice(i + 1).entries()) {
      for (let a = 0; a < first; a++) {
        for (let b = 0; b < second; b++) {
          const j = i + 1 + more;
          if (maybe(pair(i, a, j, b))) open.set(keyOf(i, a, j, b), [i, a, j, b]);
          else impossible.push(pair(i, a, j, b));
        }
      }
    }
  }
  const known = new Set(open.keys());
  const fits = (row: Map<number, number>, field: number, choice: number) =>
    [...row].every(([other, its]) => known.has(keyOf(other, its, field, choice)));
  const news = (row: Map<number, number>, field: number, choice: number) =>
    [...row].filter(([other, its]) => open.has(keyOf(other, its, field, choice))).length;
  const whole = (row: Map<number, number>) => sizes.map((_, field) => row.get(field) ?? 0);
  const fill = ([i, a, j, b]: readonly [number, number, number, number]): Row => {
    const row = new Map([
      [i, a],
      [j, b],
    ]);
    for (const [field, size] of sizes.entries()) {
      if (row.has(field)) continue;
      const best = Array.from({ length: size }, (_, choice) => choice)
        .filter((choice) => fits(row, field, choice))
        .sort((x, y) => news(row, field, y) - news(row, field, x))
        .find((choice) => choice === 0 || maybe(whole(new Map([...row, [field, choice]]))));
      row.set(field, best ?? 0);
    }
    return whole(row);
  };
  const take = (row: Row): boolean => {
    if (!maybe(row) || !takes(row)) return false;
    rows.push(row);
    for (const key of pairsOf(row)) open.delete(key);
    return true;
  };
  for (let next = open.values().next(); !next.done; next = open.values().next()) {
    const [i, a, j, b] = next.value;
    const full = fill(next.value);
    if (take(full)) continue;
    const own = pair(i, a, j, b);
    if (takes(own)) {
      const fewer = full.flatMap((choice, field) =>
        choice === 0 || field === i || field === j
          ? []
          : [full.map((one, at) => (at === field ? 0 : one))],
      );
      if (!fewer.some(take)) take(own);
      continue;
    }
    impossible.push(own);
    open.delete(keyOf(i, a, j, b));
    known.delete(keyOf(i, a, j, b));
  }
  return { rows, impossible };
}
