import { barOf, classesOf } from './classes.ts';

test.each([
  [
    'names beside scores, as topK makes them',
    {
      classes: { dtype: 'string', shape: [1, 2], data: ['sea', 'sky'].map((t) => Buffer.from(t)) },
      scores: { dtype: 'float32', shape: [1, 2], data: Float32Array.of(0.75, 0.25) },
    },
    ['scores', 'classes'],
  ],
  [
    'scores alone',
    { probabilities: { dtype: 'float32', shape: [1, 2], data: Float32Array.of(0.75, 0.25) } },
    ['probabilities'],
  ],
] as const)('the bars say what they show: %s', (_, tensors, outputs) => {
  const classes = classesOf(tensors, ['sea', 'sky']);
  expect(classes?.outputs).toEqual(outputs);
  expect(classes?.of(0)).toEqual([
    { name: 'sea', score: 0.75 },
    { name: 'sky', score: 0.25 },
  ]);
});

test.each([
  ['shares, of the whole', [0.75, 0.25], [0.75, 0.25]],
  ['counts, of the best', [8, 4, 0], [1, 0.5, 0]],
  ['logits, from the lowest on', [566, -78, -722], [1, 0.5, 0]],
  ['log probabilities', [-1, -2, -5], [1, 0.75, 0]],
  ['the same scores below 0', [-2, -2], [0, 0]],
  ['what is not finite', [Infinity, 4, -Infinity, NaN], [1, 1, 0, 0]],
])('bars of %s', (_, scores, expected) => {
  const bar = barOf(scores.map((score) => ({ name: '', score })));
  expect(scores.map(bar)).toEqual(expected);
});
