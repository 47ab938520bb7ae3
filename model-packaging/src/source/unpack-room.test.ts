import { withCode } from '../testing/scratch.ts';
import { roomWithin } from './unpack-room.ts';

const GB = 2 ** 30;

test.each([
  ['a small archive', 1000, GB, 1],
  ['a large one', GB, 100 * GB, 1],
])('%s may hold so much and no more', (_, size, most, more) => {
  const take = roomWithin('m.tar.gz', size, 1e15);
  take(most - 5);
  take(5);
  expect(() => take(more)).toThrow(withCode('CORRUPT_FILE'));
});

test('a disk is not filled to its end', () => {
  const take = roomWithin('m.tar.gz', GB, 100);
  take(90);
  expect(() => take(1)).toThrow(withCode('OUTPUT_FAILED'));
});

test('an archive holds 10,000 files and folders, however small, and no more', () => {
  const take = roomWithin('m.tar.gz', GB, 1e15);
  for (let entry = 0; entry < 10_000; entry++) take(0);
  expect(() => take(0)).toThrow(withCode('CORRUPT_FILE'));
});
