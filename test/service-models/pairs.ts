/** Every pair of choices of two fields, the other fields at their first choice; each once. */

/**
 * @param sizes choices of each field
 * @returns an index for each field
 */
export function pairsOf(sizes: readonly number[]): number[][] {
  const of = (size: number) => Array.from({ length: size }, (_, i) => i);
  const all = sizes.flatMap((first, i) =>
    sizes
      .slice(i + 1)
      .flatMap((second, j) =>
        of(first).flatMap((a) =>
          of(second).map((b) =>
            sizes.map((_, field) => (field === i ? a : field === i + 1 + j ? b : 0)),
          ),
        ),
      ),
  );
  return [...new Map(all.map((one) => [one.join(), one])).values()];
}
