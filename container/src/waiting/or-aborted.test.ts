import { orAborted, type Settle } from './or-aborted.ts';
import { RequestSignal } from './request-signal.ts';

function begun(signal?: RequestSignal) {
  const givenUp = jest.fn();
  let settle: Settle<string> | undefined;
  const wait = orAborted<string>(signal, (given) => {
    settle = given;
    return givenUp;
  });
  return { wait, givenUp, settle: settle as Settle<string> };
}

test.each(['resolve', 'reject'] as const)('what is waited for ends the wait: %s', async (how) => {
  const signal = new RequestSignal();
  const { wait, givenUp, settle } = begun(signal);
  settle[how]('done');
  signal.abort(new Error('too late'));
  await expect(how === 'resolve' ? wait : wait.catch((reason) => reason)).resolves.toBe('done');
  expect(givenUp).not.toHaveBeenCalled();
});

test('the signal ends the wait at once, which is given up once', async () => {
  const signal = new RequestSignal();
  const { wait, givenUp, settle } = begun(signal);
  signal.abort(new Error('gone'));
  settle.resolve('too late');
  await expect(wait).rejects.toThrow('gone');
  expect(givenUp).toHaveBeenCalledTimes(1);
});

test('nothing is begun for a signal that has aborted', async () => {
  const signal = new RequestSignal();
  signal.abort(new Error('gone'));
  const begin = jest.fn();
  await expect(orAborted(signal, begin)).rejects.toThrow('gone');
  expect(begin).not.toHaveBeenCalled();
});
