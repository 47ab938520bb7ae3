import { readFileSync } from 'node:fs';
import { WHEELS } from '../../libtensorflow/src/fetch/pinned-wheel.ts';

test('the images hold the TensorFlow that this repository is tested with, by its hash', () => {
  const lines = readFileSync('container/image/tensorflow.txt', 'utf8').trim().split('\n');
  const pinned = [WHEELS.x64, WHEELS.arm64].map(
    (wheel) => `${wheel?.package}==${wheel?.version} --hash=sha256:${wheel?.sha256}`,
  );
  expect(lines.filter((line) => !line.startsWith('#'))).toEqual(pinned);
});

test('the Dockerfile asks pip for the platforms of those wheels', () => {
  const dockerfile = readFileSync('container/Dockerfile', 'utf8');
  for (const { package: name, platform } of Object.values(WHEELS)) {
    const machine = platform.replace('manylinux_2_27_', '');
    expect(dockerfile).toContain(`name=${name} machine=${machine}`);
  }
});
