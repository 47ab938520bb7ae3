/** Merges many sorted streams by a heap. */

/** Items in a page of the merge. */
const PAGE = 1_000;

/** Where the merge is in a stream. */
interface Cursor<Item> {
  /** Of the item it is at. */
  key: string;
  at: number;
  page: readonly Item[];
  readonly pages: AsyncIterator<readonly Item[]>;
}

/**
 * Pages of all items, sorted by their keys, one for each key.
 * @param streams pages of sorted items; none is empty
 * @param keyOf keys are compared as JavaScript compares texts
 */
export async function* mergeSorted<Item>(
  streams: Iterable<AsyncIterator<readonly Item[]>>,
  keyOf: (item: Item) => string,
): AsyncGenerator<readonly Item[]> {
  const heap: Cursor<Item>[] = [];
  for (const pages of streams) {
    const { value } = await pages.next();
    if (!value) continue;
    heap.push({ key: keyOf(value[0]), at: 0, page: value, pages });
  }
  heap.sort((a, b) => (a.key < b.key ? -1 : 1));
  let last: string | undefined;
  let page: Item[] = [];
  for (let top = heap[0]; top; top = heap[0]) {
    if (top.key !== last) page.push(top.page[top.at] as Item);
    last = top.key;
    if (page.length === PAGE) {
      yield page;
      page = [];
    }
    if (await advance(top, keyOf)) sink(heap);
    else remove(heap);
  }
  yield page;
}

/** False at the end of the stream. */
async function advance<Item>(
  cursor: Cursor<Item>,
  keyOf: (item: Item) => string,
): Promise<boolean> {
  cursor.at += 1;
  if (cursor.at === cursor.page.length) {
    const { value } = await cursor.pages.next();
    if (!value) return false;
    cursor.page = value;
    cursor.at = 0;
  }
  cursor.key = keyOf(cursor.page[cursor.at] as Item);
  return true;
}

function remove<Item>(heap: Cursor<Item>[]): void {
  const end = heap.pop() as Cursor<Item>;
  if (heap.length === 0) return;
  heap[0] = end;
  sink(heap);
}

/** Puts the first cursor where it belongs in the binary heap. */
function sink<Item>(heap: Cursor<Item>[]): void {
  const moved = heap[0] as Cursor<Item>;
  let parent = 0;
  for (;;) {
    const left = 2 * parent + 1;
    const right = heap[left + 1];
    const child = right && right.key < (heap[left] as Cursor<Item>).key ? left + 1 : left;
    const least = heap[child];
    if (!least || moved.key <= least.key) break;
    heap[parent] = least;
    parent = child;
  }
  heap[parent] = moved;
}
