import { nextTurn } from './next-turn.ts';

test('one waiter a turn, in order, also those that come while others wait', async () => {
  let turn = 0;
  let counting = true;
  const count = () => {
    turn += 1;
    if (counting) setImmediate(count);
  };
  setImmediate(count);
  const seen: [string, number][] = [];
  const work = async (name: string) => {
    for (let i = 0; i < 3; i++) {
      await nextTurn();
      seen.push([name, turn]);
    }
  };
  await Promise.all(['a', 'b', 'c'].map(work));
  counting = false;
  expect(seen.map(([name]) => name).join('')).toBe('abcabcabc');
  expect(new Set(seen.map(([, at]) => at)).size).toBe(9);
});
