/** What is learned of a model server from its refusals and answers. */
import { Capacity } from './capacity.ts';

function refuse(capacity: Capacity, ...others: number[]): void {
  for (const left of others) capacity.refused(left, () => undefined);
}

test('as many as allowed, where none is refused', () => {
  const capacity = new Capacity(4);
  for (let answer = 0; answer < 20; answer += 1) capacity.answered(4);
  expect(capacity.most).toBe(4);
  expect([capacity.hasRoom(3), capacity.hasRoom(4)]).toEqual([true, false]);
});

test('one fewer than were at work when the last of a burst was refused; one more after each full round', () => {
  const capacity = new Capacity(64);
  refuse(capacity, 33, 32, 31, 30);
  expect(capacity.most).toBe(29);
  for (let answer = 0; answer < 28; answer += 1) capacity.answered(29);
  expect(capacity.most).toBe(29);
  capacity.answered(29);
  expect(capacity.most).toBe(30);
  for (let answer = 0; answer < 30; answer += 1) capacity.answered(30);
  expect(capacity.most).toBe(31);
});

test('answers to a load that does not use it up tell nothing, and it never exceeds what is allowed', () => {
  const capacity = new Capacity(4);
  refuse(capacity, 3);
  for (let answer = 0; answer < 20; answer += 1) capacity.answered(1);
  expect(capacity.most).toBe(2);
  for (let answer = 0; answer < 20; answer += 1) capacity.answered(4);
  expect(capacity.most).toBe(4);
});

test('with nothing at work that an answer could come from, the next call waits for the end of a pause', async () => {
  const capacity = new Capacity(4);
  let hasRoom = true;
  await new Promise<void>((resolve) => {
    capacity.refused(0, resolve);
    hasRoom = capacity.hasRoom(0);
  });
  expect(hasRoom).toBe(false);
  expect(capacity.hasRoom(0)).toBe(true);
  expect(capacity.most).toBe(1);
});
