/** Each part of a request is counted where it is spent, also of one that ends early. */
import { Stopwatch, type Timings } from './timings.ts';

const none: Timings = { receive: 0, queue: 0, decode: 0, predict: 0, encode: 0 };
/** What happens after each second; the last one is the end. */
type Steps = readonly ((stopwatch: Stopwatch) => void)[];

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const received = (stopwatch: Stopwatch) => stopwatch.received();
const ready = (stopwatch: Stopwatch) => stopwatch.ready();
const forEver = (stopwatch: Stopwatch) => {
  void stopwatch.predict(() => new Promise(() => undefined));
};
const call = (stopwatch: Stopwatch) => {
  void stopwatch.predict(() => new Promise<void>((resolve) => setTimeout(resolve, 500)));
};

test.each<[string, Steps, Partial<Timings>]>([
  ['the body', [], { receive: 1000 }],
  ['the wait for a model', [received], { receive: 1000, queue: 1000 }],
  ['the codec', [received, ready], { receive: 1000, queue: 1000, decode: 1000 }],
  [
    'the model',
    [received, ready, forEver],
    { receive: 1000, queue: 1000, decode: 1000, predict: 1000 },
  ],
  [
    'the answer',
    [received, ready, call],
    { receive: 1000, queue: 1000, decode: 1000, predict: 500, encode: 500 },
  ],
])('a request that ends within %s', async (_, steps, expected) => {
  const stopwatch = new Stopwatch();
  for (const step of steps) {
    await jest.advanceTimersByTimeAsync(1000);
    step(stopwatch);
  }
  await jest.advanceTimersByTimeAsync(1000);
  expect(stopwatch.timings()).toEqual({ ...none, ...expected });
});
