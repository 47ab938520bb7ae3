/** Works on each item in order, on some at a time. @throws the first error, when what had begun is over */
export async function inTurn<T>(
  items: readonly T[],
  atATime: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const index = next++;
      try {
        await work(items[index] as T, index);
      } catch (error) {
        next = items.length;
        throw error;
      }
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: atATime }, worker));
  const failed = workers.find((ended) => ended.status === 'rejected');
  if (failed) throw failed.reason;
}
