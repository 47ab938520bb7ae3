import { ServingError } from '../errors.ts';
import { mayBeOfBatch, RetryLane } from './failed-batches.ts';

beforeAll(() => jest.useFakeTimers({ now: 0 }));
afterAll(() => jest.useRealTimers());

test('retries run one after the other, for a part of the time', async () => {
  const lane = new RetryLane();
  let running = 0;
  const work = (ms: number) => async () => {
    running += 1;
    expect(running).toBe(1);
    jest.advanceTimersByTime(ms);
    await Promise.resolve();
    running -= 1;
    return ms;
  };
  const settled = await Promise.allSettled([3_000, 3_000, 1_000].map((ms) => lane.run(work(ms))));
  expect(settled).toMatchObject([
    { value: 3_000 },
    { value: 3_000 },
    { reason: { code: 'BATCH_FAILED' } },
  ]);
  jest.advanceTimersByTime(7_900);
  await expect(lane.run(work(1))).rejects.toMatchObject({ code: 'BATCH_FAILED' });
  jest.advanceTimersByTime(200);
  expect(await lane.run(work(1))).toBe(1);
});

test('a retry that fails does not stop the next', async () => {
  const lane = new RetryLane();
  const failed = lane.run(() => Promise.reject(new Error('no')));
  const next = lane.run(() => Promise.resolve('yes'));
  await expect(failed).rejects.toThrow('no');
  expect(await next).toBe('yes');
});

test.each([
  ['MODEL_FAILED', 400, true],
  ['MODEL_FAILED', 500, true],
  ['MODEL_FAILED', 503, false],
  ['MODEL_NOT_FOUND', 404, false],
  ['REQUEST_TIMEOUT', 504, false],
] as const)('over REST %s with %i', (code, status, expected) => {
  expect(mayBeOfBatch(new ServingError(code, 'x', { status }))).toBe(expected);
});
