/** A model with jit_compile=True runs everywhere: TensorFlow Serving refuses it unless it may compile. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspectModel, layOut, renderInspect } from '@sagemaker-tfs/model-packaging';
import { startRuntime } from './runtime-process.ts';
import { verifyWithRuntime } from './verify.ts';

jest.setTimeout(120_000);

const SOURCE = join(__dirname, '..', '..', '..', 'test', 'fixtures', 'jit-compile', 'model');

let work: string;
let directory: string;
beforeAll(async () => {
  work = mkdtempSync(join(tmpdir(), 'jit-compile-'));
  directory = join(work, 'model');
  await layOut({ source: SOURCE }, directory, {});
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

test('inspect tells', async () => {
  expect(renderInspect(await inspectModel(SOURCE))).toMatch(
    /signature "serving_default": compiled by XLA \(jit_compile=True\)/,
  );
});

test('a trial runs it', async () => {
  const { requests } = await verifyWithRuntime(directory, undefined);
  expect(requests).toMatchObject([{ status: 200 }]);
});

test.each(['grpc', 'rest', 'in-process'])('a runtime runs it over %s', async (backend) => {
  const log = join(work, `${backend}.log`);
  const environment = { SAGEMAKER_TFS_BACKEND: backend };
  const runtime = await startRuntime({ modelDirectory: directory, log, environment });
  try {
    const body = JSON.stringify({ instances: [[0, 0]] });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${runtime.url}/invocations`, { method: 'POST', headers, body });
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('0.5')]);
  } finally {
    await runtime.stop();
  }
});
