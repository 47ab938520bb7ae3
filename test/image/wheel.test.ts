import { readFileSync } from 'node:fs';
import { PINNED_VERSION, pinnedWheel } from '../../libtensorflow/src/fetch/pinned-wheel.ts';

test('the image holds the TensorFlow that this repository is tested with, by its hash', () => {
  const wheel = pinnedWheel();
  const lines = readFileSync('container/image/tensorflow.txt', 'utf8').split('\n');
  const requirement = `tensorflow-cpu==${PINNED_VERSION} --hash=sha256:`;
  const found = lines.find((line) => line.startsWith(requirement));
  expect(found).toMatch(/sha256:[0-9a-f]{64}$/);
  // On another processor than the image's, another wheel is pinned.
  if (process.arch === 'x64') expect(found).toBe(requirement + wheel?.sha256);
});
