import type { SignatureMap } from '@sagemaker-tfs/tensors';
import { SignatureCache } from './signature-cache.ts';

const spec = { tensorName: 'x:0', dtype: 'float32', dtypeEnum: 1, shape: [-1, 1] } as const;
const signaturesOf = (key: string): SignatureMap => ({
  [key]: { key, methodName: '', inputs: { x: spec }, outputs: { y: spec } },
});

/** A cache of a model server that tells each time anew what `served` says. */
function cacheOf() {
  const served: { version: string | undefined; key: string } = { version: '1', key: 'run' };
  const fetch = jest.fn(async () => ({
    signatures: signaturesOf(served.key),
    version: served.version,
  }));
  const cache = new SignatureCache(fetch);
  const doubted = async () => {
    jest.advanceTimersByTime(3_000);
    cache.doubt({ name: 'm' });
    return cache.entry({ name: 'm' });
  };
  return { cache, served, fetch, doubted };
}

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

test('what is asked for anew and the same stays one object, by which trials are known', async () => {
  const { cache, fetch, doubted } = cacheOf();
  const first = await cache.entry({ name: 'm' });
  expect(await doubted()).toBe(first);
  expect(await doubted()).toBe(first);
  expect(fetch).toHaveBeenCalledTimes(3);
});

test.each([
  ['another version', { version: '2', key: 'run' }],
  ['another signature', { version: '1', key: 'other' }],
  ['a version that is not told', { version: undefined, key: 'run' }],
])('%s is another', async (_, next) => {
  const { cache, served, doubted } = cacheOf();
  const first = await cache.entry({ name: 'm' });
  Object.assign(served, next);
  const second = await doubted();
  expect(second).toEqual({ signatures: signaturesOf(next.key), version: next.version });
  expect(second).not.toBe(first);
  if (next.version === undefined) expect(await doubted()).not.toBe(second);
});

test('a model that was loaded anew is another, though all of it is the same', async () => {
  const { cache } = cacheOf();
  const first = await cache.entry({ name: 'm' });
  cache.forget('m');
  const second = await cache.entry({ name: 'm' });
  expect(second).toEqual(first);
  expect(second).not.toBe(first);
});
