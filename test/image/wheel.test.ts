import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IN_PROCESS_CUDA } from '@sagemaker-tfs/cdk';
import { WHEELS } from '@sagemaker-tfs/libtensorflow/pinned-wheel';
import { dockerRun } from './docker-run.ts';

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
    const machine = platform.replace(/^manylinux(_2_27|2014)_/, '');
    expect(dockerfile).toContain(`name=${name} machine=${machine}`);
  }
});

describe('the in-process image for GPUs', () => {
  const pins = readFileSync('container/image/tensorflow-gpu.txt', 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const versionOf = (name: string) =>
    pins.map((line) => line.split(/==| /)).find(([found]) => found === name)?.[1] ?? '';

  test('pins TensorFlow as it is elsewhere, with the CUDA that the constructs choose drivers for', () => {
    for (const pin of pins) expect(pin).toMatch(/^[a-z0-9-]+==[\d.]+ --hash=sha256:[0-9a-f]{64}$/);
    expect(versionOf('tensorflow')).toBe(WHEELS.x64?.version);
    expect(versionOf('nvidia-cuda-runtime-cu12')).toMatch(new RegExp(`^${IN_PROCESS_CUDA}\\.`));
  });

  test('lays out what TensorFlow opens where it looks, and no more', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'library-'));
    try {
      for (const name of ['tensorflow.txt', 'tensorflow-gpu.txt'])
        cpSync(join('container/image', name), join(folder, name));
      // Instead of pip: folders as the wheels have them.
      const pip = join(folder, 'pip');
      writeFileSync(pip, FAKE_PIP);
      chmodSync(pip, 0o755);
      const variables = { PATH: `${folder}:${process.env.PATH}`, TARGETARCH: 'amd64' };
      await dockerRun('library', folder, { ...variables, ACCELERATOR: 'gpu' });
      const here = (path: string) => existsSync(join(folder, path));
      expect(readFileSync(join(folder, 'wheel.txt'), 'utf8').trim().split('\n')).toEqual(pins);
      for (const path of [
        'opt/libtensorflow/libtensorflow_cc.so.2',
        'opt/nvidia/cublas/lib/libcublas.so.12',
        'opt/nvidia/cuda_nvcc/bin/ptxas',
        'opt/nvidia/cuda_nvcc/nvvm/libdevice/libdevice.10.bc',
        'licenses/nvidia_cublas_cu12-1/License.txt',
      ])
        expect([path, here(path)]).toEqual([path, true]);
      for (const path of ['wheel', 'opt/nvidia/cuda_nvcc/bin/cicc', 'opt/nvidia/cublas/include'])
        expect([path, here(path)]).toEqual([path, false]);
      await expect(
        dockerRun('library', folder, { ...variables, TARGETARCH: 'arm64', ACCELERATOR: 'gpu' }),
      ).rejects.toThrow();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

const FAKE_PIP = `#!/bin/sh
mkdir -p wheel/tensorflow wheel/nvidia/cublas/lib wheel/nvidia/cublas/include wheel/nvidia/cuda_nvcc/bin wheel/nvidia/cuda_nvcc/nvvm/libdevice wheel/nvidia_cublas_cu12-1.dist-info
touch wheel/tensorflow/libtensorflow_cc.so.2 wheel/tensorflow/libtensorflow_framework.so.2 wheel/tensorflow/THIRD_PARTY_NOTICES.txt
touch wheel/nvidia/cublas/lib/libcublas.so.12 wheel/nvidia/cuda_nvcc/bin/ptxas wheel/nvidia/cuda_nvcc/bin/cicc
touch wheel/nvidia/cuda_nvcc/nvvm/libdevice/libdevice.10.bc wheel/nvidia_cublas_cu12-1.dist-info/License.txt
`;
