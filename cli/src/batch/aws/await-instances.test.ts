/** A job that SageMaker has taken is neither forgotten nor taken for refused, whatever goes wrong meanwhile. */
import { awaitInstances } from './await-instances.ts';

const WAITING = { status: 'InProgress', startedAt: undefined, failureReason: undefined } as const;
const BEGUN = { ...WAITING, startedAt: new Date() };
const LACK = { ...WAITING, status: 'Failed', failureReason: 'CapacityError: no capacity' } as const;
const denied = new Error('not authorized to perform this action');

/** @param looks what comes in turn, the last again and again */
function waiting(looks: readonly (object | Error)[], stops: readonly (Error | undefined)[] = []) {
  const calls = { looks: 0, stops: 0 };
  const result = awaitInstances(
    {
      jobName: 'late',
      look: async () => {
        const next = looks[Math.min(calls.looks++, looks.length - 1)];
        if (next instanceof Error) throw next;
        return next as typeof WAITING;
      },
      stop: async () => {
        const error = stops[Math.min(calls.stops++, stops.length - 1)];
        if (error) throw error;
      },
    },
    { minutes: 0, every: 1 },
    stops.length === 0,
  );
  return { calls, result };
}

test('looks that fail are tried again', async () => {
  const { calls, result } = waiting([denied, denied, WAITING, denied, BEGUN]);
  await result;
  expect(calls.looks).toBe(5);
});

test('a stop that is refused because the job has just failed leads to the next type', async () => {
  const { result } = waiting([WAITING, LACK], [new Error('the transform job is in status Failed')]);
  await expect(result).rejects.toMatchObject({ code: 'NO_CAPACITY' });
});

test('a job that had its instances when it was to be stopped is kept', async () => {
  await waiting([WAITING, BEGUN], [new Error('try again')]).result;
});

test.each([
  ['looked at', waiting.bind(undefined, [denied])],
  ['stopped', waiting.bind(undefined, [WAITING], [denied])],
])('one that cannot be %s is named, after some tries', async (_, begin) => {
  const { calls, result } = begin();
  await expect(result).rejects.toMatchObject({
    code: 'JOB_NOT_WATCHED',
    message: expect.stringMatching(/^the job late was made and continues.*not authorized/),
  });
  expect(calls.looks).toBe(8);
});
