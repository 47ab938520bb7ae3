import { openBudget as openOwn } from './budget.ts';
import type { Store } from './store.ts';

/** Files in memory, and what was asked of them. */
function memoryStore() {
  const files = new Map<string, number>();
  const asked = { writes: 0, lists: 0 };
  const store: Store = {
    writer: 'one',
    read: () => Promise.reject(new Error('nothing is read')),
    async write(key) {
      asked.writes++;
      files.set(key, Date.now());
    },
    create: () => Promise.reject(new Error('nothing is created')),
    remove: () => Promise.reject(new Error('nothing is removed')),
    async list(start) {
      asked.lists++;
      const keys = [...files.keys()].filter((key) => key.startsWith(start)).sort();
      return keys.map((key) => ({ key, modified: files.get(key) as number }));
    },
  };
  const worked = (process: string, hours: number) => {
    files.set(`_worker/hours/${process}/first`, 1e12);
    files.set(`_worker/hours/${process}/last`, 1e12 + hours * 3_600_000);
  };
  return { store, files, asked, worked };
}

const failed = jest.fn();
/** A process that has just started, however long the one that runs these tests has lived. */
const openBudget = (store: Store, process: string, hours: number | undefined, milliseconds = 0) =>
  openOwn(store, process, hours, failed, () => milliseconds);
afterEach(() => {
  expect(failed).not.toHaveBeenCalled();
});

test('hours of all processes count, those of earlier tries too', async () => {
  const { store, files, worked } = memoryStore();
  worked('one', 39.9);
  worked('two', 39.9);
  for (const [hours, isUsedUp] of [
    [79, true],
    [100, false],
  ] as const) {
    const budget = await openBudget(store, 'three', hours);
    expect(budget.isUsedUp()).toBe(isUsedUp);
    await budget.close();
  }
  const [first, last] = ['first', 'last'].map((name) => files.get(`_worker/hours/three/${name}`));
  expect(first).toBeGreaterThan(1e12);
  expect(last).toBeGreaterThanOrEqual(first as number);
});

test('their end is said, not only known to those who ask', async () => {
  const { store } = memoryStore();
  const began = performance.now();
  const worked = () => 3_599_950 + performance.now() - began;
  const budget = await openOwn(store, 'own', 1, failed, worked);
  await new Promise((resolve) => {
    if (budget.usedUp.aborted) resolve(undefined);
    budget.usedUp.addEventListener('abort', resolve);
  });
  expect(budget.isUsedUp()).toBe(true);
  await budget.close();
});

test('a thousand processes cost one listing a look', async () => {
  const { store, asked, worked } = memoryStore();
  for (let process = 0; process < 1_000; process++) worked(`p${process}`, 0.1);
  const budget = await openBudget(store, 'own', 100.5);
  expect(budget.isUsedUp()).toBe(false);
  expect(asked).toEqual({ writes: 2, lists: 1 });
  await budget.close();
});

test('a process that was killed before its first look, and a clock that went back, count as nothing', async () => {
  const { store, files, worked } = memoryStore();
  files.set('_worker/hours/killed/first', 0);
  worked('back', -1_000);
  worked('one', 1);
  const budget = await openBudget(store, 'own', 0.9);
  expect(budget.isUsedUp()).toBe(true);
  await budget.close();
  const other = await openBudget(store, 'own', 1.1);
  expect(other.isUsedUp()).toBe(false);
  await other.close();
});

test('a budget that this process uses up alone', async () => {
  for (const [hours, isUsedUp] of [
    [0.99, false],
    [1, true],
  ] as const) {
    const budget = await openBudget(memoryStore().store, 'only', 1, hours * 3_600_000);
    expect(budget.isUsedUp()).toBe(isUsedUp);
    await budget.close();
  }
});

test('the clock of this process counts where none is passed', async () => {
  const budget = await openOwn(memoryStore().store, 'only', 1e-9, failed);
  expect(budget.isUsedUp()).toBe(true);
  await budget.close();
});

test('without a budget nothing is written', async () => {
  const { store, files } = memoryStore();
  const budget = await openBudget(store, 'only', undefined);
  expect(budget.isUsedUp()).toBe(false);
  await budget.close();
  expect(files.size).toBe(0);
});
