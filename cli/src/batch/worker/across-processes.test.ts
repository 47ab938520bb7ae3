import { acrossProcesses } from './across-processes.ts';

const rest = { answers: 9, failures: 1, gone: 0, ranges: 4, done: 2 };

test('processes that follow each other count as one', () => {
  const add = acrossProcesses();
  const said = [
    { pid: 1, now: 100, seconds: 5 },
    { pid: 1, now: 400, seconds: 20 },
    { pid: 2, now: 0, seconds: 0.5 },
    // Later than the first at its end: its own clock is no sign of another process.
    { pid: 3, now: 500, seconds: 30 },
    { pid: 3, now: 520, seconds: 31 },
  ];
  expect(said.map((one) => add({ ...rest, ...one }))).toEqual([
    { ...rest, now: 100, seconds: 5 },
    { ...rest, now: 400, seconds: 20 },
    { ...rest, now: 400, seconds: 20.5 },
    { ...rest, now: 900, seconds: 50.5 },
    { ...rest, now: 920, seconds: 51.5 },
  ]);
});
