/** Models in the order in which they were packaged: the first is the default. */

/**
 * @param models in the order of their paths
 * @param packaged the models of the manifest; those that it does not have come last
 */
export function inPackagedOrder<T extends { readonly name: string }>(
  models: readonly T[],
  packaged: readonly { readonly name: string }[] = [],
): T[] {
  const places = new Map(packaged.map(({ name }, place) => [name, place]));
  const placeOf = ({ name }: T) => places.get(name) ?? places.size;
  return models.toSorted((a, b) => placeOf(a) - placeOf(b));
}
