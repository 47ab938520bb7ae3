/** Work on many items at once whose results come in the order of the items. */

/** How much is begun before the first of it is taken. */
interface InOrderLimits {
  /** Items at once; asked before each. */
  items(): number;
  /** False while nothing more may be begun; the items that are under way end all the same. */
  mayBegin(): boolean;
}

/**
 * Begins items in their order and yields results in the same order. The first that is under way has always been let in,
 * so that a limit on what is held cannot keep it waiting for those behind it.
 * @throws what `work` throws, after the results before it
 */
export async function* inOrder<I, R>(
  items: AsyncIterable<I>,
  work: (item: I) => Promise<R>,
  { items: most, mayBegin }: InOrderLimits,
): AsyncGenerator<R> {
  const underWay: Promise<R>[] = [];
  for await (const item of items) {
    while (underWay.length > 0 && (underWay.length >= most() || !mayBegin())) {
      yield await (underWay.shift() as Promise<R>);
    }
    const result = work(item);
    // Awaited in its turn; one before it may fail first.
    result.catch(() => undefined);
    underWay.push(result);
  }
  while (underWay.length > 0) yield await (underWay.shift() as Promise<R>);
}
