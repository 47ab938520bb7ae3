import { whenAwake } from './awake.ts';

const asleep = Object.assign(
  new Error('Inference Component has no capacity to process this request.'),
  { name: 'ValidationError' },
);

test('asks until there is a copy', async () => {
  jest.useFakeTimers({ doNotFake: ['performance'] });
  const log = jest.spyOn(console, 'log').mockImplementation(() => {});
  try {
    let calls = 0;
    const answer = whenAwake(Date.now() + 600_000, async () => {
      calls += 1;
      if (calls < 4) throw asleep;
      return 'awake';
    });
    await jest.advanceTimersByTimeAsync(60_000);
    expect(await answer).toBe('awake');
    expect(calls).toBe(4);
  } finally {
    jest.useRealTimers();
    log.mockRestore();
  }
});

test('other errors are thrown at once', async () => {
  const other = Object.assign(new Error('Endpoint x not found.'), { name: 'ValidationError' });
  await expect(whenAwake(Number.POSITIVE_INFINITY, () => Promise.reject(other))).rejects.toBe(
    other,
  );
});
