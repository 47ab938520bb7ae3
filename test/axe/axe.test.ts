/** The short form of `npm run axe`, against a runtime that only echoes. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startStub } from 'sagemaker-tfs/stand-ins';
import { axe } from './axe.ts';

const INPUTS = 200;

test('a job that is killed again and again ends as one that is not', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'axe-inputs-'));
  const stub = await startStub(async (body) => {
    // Slow enough that a kill meets requests in flight.
    await sleep(5);
    return `<${body}>`;
  });
  try {
    for (let at = 0; at < INPUTS; at++) await writeFile(join(directory, `${at}.txt`), `${at}`);
    const { url } = stub;
    const report = await axe({ url, directory, contentType: 'text/plain', kills: 4, seed: 7 });
    expect(report).toEqual({ inputs: INPUTS, killed: 4, different: [], left: [] });
  } finally {
    await stub.close();
    await rm(directory, { recursive: true, force: true });
  }
});
