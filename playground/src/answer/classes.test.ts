import { classesOf } from './classes.ts';

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
