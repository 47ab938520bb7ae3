import { Restarts } from './restarts.ts';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test('each waits twice as long as before, up to 30 s, and by itself', () => {
  const restarts = new Restarts(100);
  const delays = Array.from({ length: 11 }, () => restarts.schedule(0, () => undefined));
  expect(delays.slice(0, 3)).toEqual([100, 200, 400]);
  expect(delays.slice(-2)).toEqual([30_000, 30_000]);
  expect(restarts.schedule(1, () => undefined)).toBe(100);
  restarts.reset(0);
  expect(restarts.schedule(0, () => undefined)).toBe(100);
});

test('a start comes after its delay, and none after stop', () => {
  const restarts = new Restarts(100);
  const start = jest.fn();
  restarts.schedule(0, start);
  jest.advanceTimersByTime(99);
  expect(start).not.toHaveBeenCalled();
  jest.advanceTimersByTime(1);
  expect(start).toHaveBeenCalledTimes(1);
  restarts.schedule(0, start);
  restarts.stop();
  restarts.schedule(1, start);
  jest.advanceTimersByTime(60_000);
  expect(start).toHaveBeenCalledTimes(1);
  expect(restarts.stopped).toBe(true);
});
