import { attempts, patientRetries } from './patient-retries.ts';

test.each([
  [undefined, 10],
  ['', 10],
  ['5x', 10],
  ['0', 10],
  ['-1', 10],
  ['2.5', 10],
  ['3', 3],
])('AWS_MAX_ATTEMPTS %j makes %s tries', (text, tries) => {
  expect(attempts({ AWS_MAX_ATTEMPTS: text })).toBe(tries);
});

test('the wait before the second try is at most 100 ms, and doubles', async () => {
  const strategy = patientRetries();
  let token = await strategy.acquireInitialRetryToken('');
  for (const longest of [100, 200, 400]) {
    token = await strategy.refreshRetryTokenForRetry(token, { errorType: 'THROTTLING' });
    expect(token.getRetryDelay()).toBeGreaterThanOrEqual(longest / 2);
    expect(token.getRetryDelay()).toBeLessThanOrEqual(longest);
  }
});
