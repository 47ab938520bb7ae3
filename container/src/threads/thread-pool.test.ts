import { ThreadPool } from './thread-pool.ts';

/** Answers what it gets, but never `endless`. */
const program = `
  const { parentPort } = require('node:worker_threads');
  parentPort.on('message', (task) => {
    if (task === 'endless') for (;;);
    parentPort.postMessage({ result: task });
  });`;

test('a thread whose work nobody waits for is ended, and another takes the next', async () => {
  const pool = new ThreadPool<string, string>({ program, isCode: true }, 1, {
    endsAbandoned: true,
  });
  const stop = new AbortController();
  const endless = pool.run('endless', [], stop.signal);
  const next = pool.run('next', []);
  stop.abort(new Error('its time is over'));
  await expect(endless).rejects.toThrow('its time is over');
  expect(await next).toBe('next');
  await pool.close();
});

test('a thread that ends in time is kept', async () => {
  const pool = new ThreadPool<string, string>({ program, isCode: true }, 1, {
    endsAbandoned: true,
  });
  const stop = new AbortController();
  expect(await pool.run('one', [], stop.signal)).toBe('one');
  stop.abort(new Error('later'));
  expect(await pool.run('two', [])).toBe('two');
  await pool.close();
});
