import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request as sendRequest } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { asleep, ENDPOINT, standIn } from '../../../client/test/sagemaker-stand-in.ts';
import type { TestServer } from '../../../client/test/servers.ts';
import { type Outcome, ROOT, sagemakerTfs } from '../batch/test-support.ts';
import { freePort } from '../serving/free-port.ts';
import { type ModelRoot, prepareModelRoot } from '../serving/model-root.ts';
import { type RunningRuntime, startRuntime } from '../serving/runtime-process.ts';

const SAMPLE = join(ROOT, 'examples/digits/samples/00000-7.jpg');

const work = mkdtempSync(join(tmpdir(), 'invoke-test-'));
let model: ModelRoot;
let runtime: RunningRuntime;
let sagemaker: TestServer;

beforeAll(async () => {
  const digits = join(ROOT, 'examples/digits');
  model = await prepareModelRoot(join(digits, 'model'), join(digits, 'inference.ts'));
  runtime = await startRuntime({
    modelDirectory: model.directory,
    log: join(work, 'runtime.log'),
  });
  sagemaker = await standIn(runtime.url);
});

afterAll(async () => {
  await sagemaker?.stop();
  await runtime?.stop();
  await model?.cleanUp();
});

function command(verb: string, ...args: string[]): Promise<Outcome> {
  const environment = {
    AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME: sagemaker.url,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  };
  return sagemakerTfs([verb, ...args], environment);
}

const invoke = (...args: string[]) => command('invoke', ...args);

const atEndpoint = ['--endpoint', ENDPOINT, '--region', 'eu-west-1'];

test('a page whose name is made to resolve to this machine reaches no runtime that the command starts', async () => {
  const asked = sendRequest(`${runtime.url}/ping`, { headers: { Host: 'evil.example' } }).end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  response.resume();
  expect(response.statusCode).toBe(403);
});

test('an inference component by its name; one that sleeps is waited for, or told', async () => {
  const component = ['--component', 'digits-cats'];
  const { exitCode } = await invoke(SAMPLE, ...atEndpoint, ...component);
  expect(exitCode).toBe(0);
  expect(sagemaker.requests.at(-1)?.headers).toMatchObject({
    'x-amzn-sagemaker-inference-component': 'digits-cats',
  });
  asleep.add('digits-cats');
  const refused = await invoke(SAMPLE, ...atEndpoint, ...component, '--wake', '0');
  asleep.clear();
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain('has no copies');
  const twice = await invoke(SAMPLE, ...atEndpoint, ...component, '--variant', 'AllTraffic');
  expect(twice.exitCode).toBe(2);
});

test('a picture to a runtime: the answer on stdout, what happened on stderr', async () => {
  const { stdout, stderr, exitCode } = await invoke(SAMPLE, '--url', runtime.url);
  expect(JSON.parse(stdout)).toMatchObject({ predictions: [{ digit: 7 }] });
  expect(stderr).toMatch(/^200 application\/json, \d+ bytes in [\d.]+ ms$/m);
  // As it came, without a line feed of the command's.
  expect(stderr).toContain(`, ${Buffer.byteLength(stdout)} bytes`);
  expect(exitCode).toBe(0);
});

test('the same to an endpoint, one variant of it', async () => {
  const { stdout } = await invoke(SAMPLE, ...atEndpoint, '--variant', 'Canary', '--json');
  const answer = JSON.parse(stdout) as { body: string };
  expect(answer).toMatchObject({ status: 200, customAttributes: { 'tfs-model-version': '1' } });
  expect(JSON.parse(answer.body)).toMatchObject({ predictions: [{ digit: 7 }] });
  expect(sagemaker.requests.at(-1)?.headers['x-amzn-sagemaker-target-variant']).toBe('Canary');
});

test('standard input', async () => {
  const child = spawn(
    process.execPath,
    [
      ...[join(ROOT, 'cli/bin/sagemaker-tfs.js'), 'invoke', '-', '--url', runtime.url],
      ...['--content-type', 'application/x-image'],
    ],
    { stdio: ['pipe', 'pipe', 'ignore'] },
  );
  child.stdin.end(await readFile(SAMPLE));
  expect(JSON.parse(await text(child.stdout))).toMatchObject({ predictions: [{ digit: 7 }] });
});

test('bench and tune measure an endpoint too', async () => {
  const few = ['--requests', '3', '--transport', 'grpc', '--json'];
  const measured = await command('bench', SAMPLE, ...atEndpoint, ...few);
  expect(JSON.parse(measured.stdout)).toMatchObject({ results: [{ latency: { count: 3 } }] });
  const short = ['--max-concurrency', '1', '--seconds', '1', '--json'];
  const tuned = await command('tune', SAMPLE, ...atEndpoint, ...short);
  expect(JSON.parse(tuned.stdout)).toMatchObject({ knee: { concurrency: 1, errors: 0 } });
});

test('the answer goes whole to a file', async () => {
  const input = join(work, 'zeros.json');
  const row = Array.from({ length: 28 }, () => Array.from({ length: 28 }, () => [0]));
  await writeFile(input, JSON.stringify({ instances: [row] }));
  const out = join(work, 'out.json');
  const { stdout, stderr } = await invoke(input, '--url', runtime.url, '--out', out);
  expect(stdout).toBe('');
  expect(stderr).toContain(`written to ${out}`);
  expect(JSON.parse(await readFile(out, 'utf8'))).toMatchObject({ predictions: [{}] });
  expect(await readdir(work)).toEqual(
    expect.not.arrayContaining([expect.stringContaining('.part')]),
  );
});

test('a folder is not replaced by the answer, and nothing is asked', async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const { stderr, exitCode } = await invoke(SAMPLE, '--url', url, '--out', work);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`--out ${work} is a directory`)]);
});

test('the container’s message ends the command with 1, from a runtime and from an endpoint', async () => {
  const bad = join(work, 'bad.jpg');
  await writeFile(bad, 'no picture');
  const here = await invoke(bad, '--url', runtime.url);
  const there = await invoke(bad, ...atEndpoint, '--json');
  expect([here.exitCode, there.exitCode]).toEqual([1, 1]);
  expect(here.stderr).toMatch(/^sagemaker-tfs: http.*invocations answered 400: .*image/m);
  expect(JSON.parse(there.stdout)).toMatchObject({
    code: 'BAD_IMAGE',
    error: expect.stringContaining(`the container of endpoint ${ENDPOINT} answered 400`),
  });
});

test('--signature and --model reach the runtime, beside custom attributes', async () => {
  const named = ['--signature', 'no_such', '--custom-attributes', 'tfs-timings=1'];
  const signature = await invoke(SAMPLE, '--url', runtime.url, ...named);
  expect(signature.exitCode).toBe(1);
  expect(signature.stderr).toContain('no_such');
  const model = await invoke(SAMPLE, '--url', runtime.url, '--model', 'other');
  expect(model.exitCode).toBe(1);
  expect(model.stderr).toContain('other');
  const twice = ['--model', 'other', '--custom-attributes', 'tfs-model-name=digits'];
  const both = await invoke(SAMPLE, '--url', runtime.url, ...twice);
  expect([both.exitCode, both.stderr]).toEqual([
    2,
    expect.stringContaining('tfs-model-name is given twice'),
  ]);
});

test('what cannot be asked, and what is not there, say so', async () => {
  const both = await invoke(SAMPLE, '--url', runtime.url, '--endpoint', ENDPOINT);
  expect([both.exitCode, both.stderr]).toEqual([2, expect.stringContaining('exclude each other')]);
  const alone = await invoke(SAMPLE, '--region', 'eu-west-1');
  expect(alone.exitCode).toBe(2);
  const url = `http://127.0.0.1:${await freePort()}`;
  const nobody = await invoke(SAMPLE, '--url', url);
  expect([nobody.exitCode, nobody.stderr]).toEqual([
    1,
    expect.stringContaining(`nothing answers at ${url}. Start a runtime with`),
  ]);
  const missing = await invoke(join(work, 'missing.npy'));
  expect([missing.exitCode, missing.stderr]).toEqual([
    2,
    expect.stringContaining('does not exist'),
  ]);
  const silent = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const late = await invoke(SAMPLE, '--url', `http://127.0.0.1:${port}`, '--timeout', '0.2');
  silent.close();
  expect([late.exitCode, late.stderr]).toEqual([
    1,
    expect.stringMatching(/did not answer within 0.2 s\. .* or raise --timeout\.$/m),
  ]);
});
