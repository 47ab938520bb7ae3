/** A model with jit_compile=True: what it needs is said before it is deployed, and where a request fails without it. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspectModel, layOut, renderInspect } from '@sagemaker-tfs/model-packaging';
import { startRuntime } from './runtime-process.ts';
import { verifyWithRuntime } from './verify.ts';

jest.setTimeout(120_000);

const SOURCE = join(__dirname, '..', '..', '..', 'test', 'fixtures', 'jit-compile', 'model');
const WARNING =
  /"serving_default" runs a function with jit_compile=True.*SAGEMAKER_TFS_XLA is true/;

let work: string;
let directory: string;
beforeAll(async () => {
  work = mkdtempSync(join(tmpdir(), 'needs-xla-'));
  directory = join(work, 'model');
  const { manifest } = await layOut({ source: SOURCE }, directory, {});
  expect(manifest?.models[0]?.compiledByXla).toEqual(['serving_default']);
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

test('inspect tells', async () => {
  expect(renderInspect(await inspectModel(SOURCE))).toMatch(WARNING);
});

test('a trial tells, and runs with it', async () => {
  const warnings: string[] = [];
  const onWarning = (warning: string) => warnings.push(warning);
  const { requests } = await verifyWithRuntime(directory, undefined, { onWarning });
  expect(requests).toMatchObject([{ status: 200 }]);
  expect(warnings).toEqual([expect.stringMatching(WARNING)]);
});

test.each([
  ['without the setting', 'grpc', 'false', 500],
  ['without the setting', 'rest', 'false', 500],
  ['with it', 'grpc', 'true', 200],
  ['in-process', 'in-process', 'false', 200],
])('a runtime %s, over %s', async (_what, backend, xla, status) => {
  const log = join(work, `${backend}-${xla}.log`);
  const environment = { SAGEMAKER_TFS_BACKEND: backend, SAGEMAKER_TFS_XLA: xla };
  const runtime = await startRuntime({ modelDirectory: directory, log, environment });
  try {
    const body = JSON.stringify({ instances: [[0, 0]] });
    const headers = { 'content-type': 'application/json' };
    const url = `${runtime.url}/invocations`;
    const response = await fetch(url, { method: 'POST', headers, body });
    const text = await response.text();
    expect({ status: response.status, text }).toEqual({
      status,
      text: expect.stringMatching(
        status === 200 ? /0\.5/ : /XLA compilation disabled.*SAGEMAKER_TFS_XLA=true/,
      ),
    });
  } finally {
    await runtime.stop();
  }
  expect(/jit_compile=True, which/.test(readFileSync(log, 'utf8'))).toBe(status !== 200);
});
