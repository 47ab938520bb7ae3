/** How many turns others have while work is done. */

/** Does the work, and counts the turns that the event loop takes meanwhile. @throws as the work does */
export async function countTurns<T>(
  work: () => Promise<T>,
): Promise<{ readonly turns: number; readonly result: T }> {
  let turns = 0;
  let handle = setImmediate(function count() {
    turns += 1;
    handle = setImmediate(count);
  });
  try {
    const result = await work();
    return { turns, result };
  } finally {
    clearImmediate(handle);
  }
}
