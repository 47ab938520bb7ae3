import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeAbandoned } from './model-root.ts';

const directory = mkdtempSync(join(tmpdir(), 'model-root-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('a model that a killed command left behind is removed by the next; those of living ones stay', async () => {
  const namespace = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0];
  const ended = spawnSync('true').pid;
  const left = `sagemaker-tfs-model-${namespace}-${ended}-abc`;
  const kept = [
    `sagemaker-tfs-model-${namespace}-${process.pid}-abc`,
    `sagemaker-tfs-model-1${namespace}-${ended}-abc`,
    'sagemaker-tfs-other',
  ];
  for (const name of [left, ...kept])
    mkdirSync(join(directory, name, 'model'), { recursive: true });
  await removeAbandoned(directory);
  expect(readdirSync(directory).sort()).toEqual(kept.sort());
});
