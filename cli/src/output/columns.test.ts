import { columns } from './columns.ts';

test('words to the left, numbers to the right, no line wider than there is room', () => {
  const rows = [
    ['name', 'ms', 'size', ''],
    ['a', '1.5', '12 kB', '█'],
    ['longer', '120', '3 B', ''],
    ['none', '-', '5 B', '██'],
  ];
  expect(columns(rows, 80).flat()).toEqual([
    'name     ms   size',
    'a       1.5  12 kB  █',
    'longer  120    3 B',
    'none      -    5 B  ██',
  ]);
  expect(columns(rows, 22).flat()).toHaveLength(4);
});

test('columns that are too wide become a line for each cell, and lose nothing', () => {
  const rows = [
    ['way', 'instances', 'a million', ''],
    ['batch', '2 x ml.g4dn.xlarge', '$1.73', '██'],
    ['worker', '2 x ml.c6i.xlarge', '$0.96', '█'],
  ];
  expect(columns(rows, 32)).toEqual([
    [],
    ['way          batch', '  instances  2 x ml.g4dn.xlarge', '  a million  $1.73'],
    ['way          worker', '  instances  2 x ml.c6i.xlarge', '  a million  $0.96'],
  ]);
  const long = [
    ['way', 'why'],
    ['a', 'a reason of several words that needs more than a line'],
  ];
  expect(columns(long, 30)[1]).toEqual([
    'way  a',
    'why  a reason of several words',
    '     that needs more than a',
    '     line',
  ]);
});
