/**
 * Takes an item out of a list of what is in flight.
 * @returns whether it was there
 */
export function removeFrom<T>(list: T[], item: T): boolean {
  const index = list.indexOf(item);
  if (index >= 0) list.splice(index, 1);
  return index >= 0;
}
