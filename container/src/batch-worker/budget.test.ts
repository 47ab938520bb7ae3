import { openBudget } from './budget.ts';
import type { Store } from './store.ts';

/** Files in memory. */
function memoryStore(): Store & { readonly files: Map<string, Buffer> } {
  const files = new Map<string, Buffer>();
  return {
    files,
    read: async (key) => files.get(key),
    async write(key, body) {
      files.set(key, Buffer.from(body));
    },
    create: () => Promise.reject(new Error('nothing is created')),
    list: async (start) => [...files.keys()].filter((key) => key.startsWith(start)).sort(),
  };
}

const LONG_AGO = Buffer.from('{"hours": 39.9}');
const failed = jest.fn();
afterEach(() => {
  expect(failed).not.toHaveBeenCalled();
});

test('hours of all processes count, those of earlier tries too', async () => {
  const store = memoryStore();
  store.files.set('_worker/hours/first.json', LONG_AGO);
  store.files.set('_worker/hours/second.json', LONG_AGO);
  for (const [hours, isUsedUp] of [
    [79, true],
    [100, false],
  ] as const) {
    const budget = await openBudget(store, 'third', hours, failed);
    expect(budget.isUsedUp()).toBe(isUsedUp);
    await budget.close();
  }
  const own = JSON.parse(String(store.files.get('_worker/hours/third.json'))) as { hours: number };
  expect(own.hours).toBeGreaterThan(0);
  expect(own.hours).toBeLessThan(1);
});

test('a budget that this process uses up alone', async () => {
  const budget = await openBudget(memoryStore(), 'only', 1e-9, failed);
  expect(budget.isUsedUp()).toBe(true);
  await budget.close();
});

test('without a budget nothing is written', async () => {
  const store = memoryStore();
  const budget = await openBudget(store, 'only', undefined, failed);
  expect(budget.isUsedUp()).toBe(false);
  await budget.close();
  expect(store.files.size).toBe(0);
});

test('a file that is none of a worker is named', async () => {
  const store = memoryStore();
  store.files.set('_worker/hours/x.json', Buffer.from('{"hours": -1}'));
  await expect(openBudget(store, 'y', 1, failed)).rejects.toMatchObject({
    code: 'WORKER_FILE_INVALID',
    message: expect.stringContaining('_worker/hours/x.json'),
  });
});
