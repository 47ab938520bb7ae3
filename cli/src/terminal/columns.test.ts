import { columns } from './columns.ts';

test('words to the left, numbers to the right, no line wider than there is room', () => {
  const rows = [
    ['name', 'ms', 'size', ''],
    ['a', '1.5', '12 kB', '█'],
    ['longer', '120', '3 B', ''],
    ['none', '-', '5 B', '██'],
  ];
  expect(columns(rows, 80)).toEqual([
    'name     ms   size',
    'a       1.5  12 kB  █',
    'longer  120    3 B',
    'none      -    5 B  ██',
  ]);
  expect(columns(rows, 10)[1]).toBe('a       1…');
});
