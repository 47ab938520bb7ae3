/**
 * Takes an item out of a list of what is in flight. Lists and not sets: what V8 leaves behind when it enlarges
 * a Set or Map points to the one after it, and once such a link has grown old, all that was ever in flight is
 * kept until the next full collection.
 * @returns whether it was there
 */
export function removeFrom<T>(list: T[], item: T): boolean {
  const index = list.indexOf(item);
  if (index >= 0) list.splice(index, 1);
  return index >= 0;
}
