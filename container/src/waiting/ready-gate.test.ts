import { ReadyGate } from './ready-gate.ts';
import { RequestSignal } from './request-signal.ts';

function gate(waitMs = 60_000) {
  let ready = false;
  const made = new ReadyGate({
    isReady: () => ready,
    reason: () => 'the model is loading',
    waitMs,
  });
  const set = (value: boolean) => {
    ready = value;
    made.changed();
  };
  return { gate: made, set };
}

test('all who wait continue when it becomes ready, and nobody waits after that', async () => {
  const { gate: ready, set } = gate();
  const waits = [ready.whenReady(), ready.whenReady(), ready.firstReady];
  set(true);
  await Promise.all([...waits, ready.whenReady()]);
});

test('a change that does not make it ready lets nobody continue', async () => {
  const { gate: ready, set } = gate(20);
  const wait = ready.whenReady();
  set(false);
  await expect(wait).rejects.toMatchObject({
    code: 'MODEL_NOT_READY',
    message: 'no model after 0.02 s: the model is loading',
  });
});

test('a part of the whole is waited for by itself', async () => {
  const { gate: ready, set } = gate(20);
  let isPart = false;
  const part = ready.whenReady(undefined, () => isPart);
  set(true);
  isPart = true;
  const whole = ready.whenReady();
  set(false);
  await Promise.all([part, whole]);
  await expect(ready.whenReady(undefined, () => false)).rejects.toThrow('no model');
});

test('who waits again after it was lost waits for the next time', async () => {
  const { gate: ready, set } = gate();
  set(true);
  set(false);
  await ready.firstReady;
  const wait = ready.whenReady();
  set(true);
  await wait;
});

test('a signal ends the wait of its own request alone', async () => {
  const { gate: ready, set } = gate();
  const signal = new RequestSignal();
  const [left, stays] = [ready.whenReady(signal), ready.whenReady()];
  signal.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  set(true);
  await stays;
});
