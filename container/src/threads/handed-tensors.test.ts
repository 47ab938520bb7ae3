import { setImmediate as turn } from 'node:timers/promises';
import { numericTensor, stringTensor } from '@sagemaker-tfs/tensors';
import { handedOver, takenOver } from './handed-tensors.ts';

const COUNT = 100_000;
const texts = Array.from({ length: COUNT }, (_, index) => (index % 7 === 0 ? '' : `ä ${index}`));
const strings = stringTensor(
  [COUNT],
  texts.map((text) => Buffer.from(text)),
);
const threeNumbers = () => numericTensor('float32', [3], Float32Array.of(1, 2, 3));

test('what went over as a message does is the same again', async () => {
  const { tensors, moved } = handedOver({ strings, numbers: threeNumbers() });
  const received = structuredClone(tensors, { transfer: [...moved] });
  const { strings: there, numbers: others } = await takenOver(received);
  expect(others).toEqual(threeNumbers());
  expect(there?.shape).toEqual([COUNT]);
  if (there?.dtype !== 'string') throw new Error('no strings');
  expect(there.values.map((value) => Buffer.from(value).toString())).toEqual(texts);
});

test('strings cost a message no object each', () => {
  const { tensors, moved } = handedOver({ strings });
  expect(moved).toHaveLength(2);
  expect(JSON.stringify(Object.keys(tensors.strings ?? {}))).toBe(
    '["dtype","shape","bytes","lengths"]',
  );
  structuredClone(tensors, { transfer: [...moved] });
  // Moved, not copied.
  expect(moved.map(({ byteLength }) => byteLength)).toEqual([0, 0]);
});

test('the event loop has its turns while strings are taken apart', async () => {
  let turns = 0;
  let isDone = false;
  const work = takenOver(handedOver({ strings }).tensors).then(() => {
    isDone = true;
  });
  while (!isDone) {
    await turn();
    turns += 1;
  }
  await work;
  expect(turns).toBeGreaterThan(COUNT / 10_000);
});

test('a request that is given up is taken apart no further', async () => {
  const stop = new AbortController();
  stop.abort(new Error('given up'));
  await expect(takenOver(handedOver({ strings }).tensors, stop.signal)).rejects.toThrow('given up');
});
