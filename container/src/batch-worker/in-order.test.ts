import { setTimeout as sleep } from 'node:timers/promises';
import { inOrder } from './in-order.ts';

async function* numbers(count: number) {
  for (let i = 0; i < count; i++) yield i;
}

test('results come in order, and no more are begun than let in', async () => {
  let [running, most] = [0, 0];
  const work = async (item: number) => {
    most = Math.max(most, ++running);
    await sleep(item % 3);
    running--;
    return item;
  };
  const got: number[] = [];
  const limits = { items: () => 7, mayBegin: () => true };
  for await (const result of inOrder(numbers(100), work, limits)) got.push(result);
  expect(got).toEqual(Array.from({ length: 100 }, (_, i) => i));
  expect(most).toBe(7);
});

test('a limit that never lets anything in still does one at a time', async () => {
  let [running, most] = [0, 0];
  const work = async (item: number) => {
    most = Math.max(most, ++running);
    await sleep(1);
    running--;
    return item;
  };
  const got: number[] = [];
  const limits = { items: () => 7, mayBegin: () => false };
  for await (const result of inOrder(numbers(10), work, limits)) got.push(result);
  expect([got.length, most]).toEqual([10, 1]);
});

test('an error comes after the results before it', async () => {
  const work = async (item: number) => {
    if (item === 5) throw new Error('five');
    await sleep(10 - item);
    return item;
  };
  const got: number[] = [];
  const all = async () => {
    const limits = { items: () => 4, mayBegin: () => true };
    for await (const result of inOrder(numbers(10), work, limits)) got.push(result);
  };
  await expect(all()).rejects.toThrow('five');
  expect(got).toEqual([0, 1, 2, 3, 4]);
});
