/** Models in S3: every verb that takes a source takes an `s3://` URI. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { packageModel } from '@sagemaker-tfs/model-packaging';
import { type S3StandIn, startS3 } from '../../../test/stacks/s3-stand-in.ts';
import { ROOT, sagemakerTfs } from '../batch/test-support.ts';
import { freePort } from '../serving/free-port.ts';
import { untilServing } from '../testing/until-serving.ts';

const DIGITS = join(ROOT, 'examples/digits');
const FILES = [
  'saved_model.pb',
  'variables/variables.index',
  'variables/variables.data-00000-of-00001',
];
const ARCHIVE = 's3://models/digits.tar.gz';
const PREFIX = 's3://models/digits/';

const work = mkdtempSync(join(tmpdir(), 's3-source-'));
let s3: S3StandIn;
let environment: Record<string, string>;

beforeAll(async () => {
  s3 = await startS3(2);
  environment = {
    AWS_ENDPOINT_URL_S3: s3.url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  };
  for (const file of FILES) {
    s3.objects.set(`models/digits/1/${file}`, await readFile(join(DIGITS, 'model/1', file)));
  }
  const archive = join(work, 'digits.tar.gz');
  const handler = join(DIGITS, 'inference.ts');
  await packageModel({ source: join(DIGITS, 'model'), handler, out: archive });
  s3.objects.set('models/digits.tar.gz', await readFile(archive));
});

afterAll(async () => {
  await s3?.close();
});

test.each([ARCHIVE, PREFIX])('inspect %s', async (uri) => {
  const { exitCode, stdout } = await sagemakerTfs(['inspect', uri, '--json'], environment);
  expect(exitCode).toBe(0);
  const [model] = JSON.parse(stdout).models;
  expect(Object.keys(model.versions[0].metaGraphs[0].signatures)).toEqual(['serving_default']);
});

test('package s3://', async () => {
  const out = join(work, 'again.tar.gz');
  const { exitCode, stdout } = await sagemakerTfs(
    ['package', PREFIX, '--out', out, '--json'],
    environment,
  );
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    path: out,
    verification: { requests: [{ status: 200 }] },
  });
});

test('serve s3://', async () => {
  const port = await freePort();
  const child = spawn(
    process.execPath,
    [join(ROOT, 'cli/bin/sagemaker-tfs.js'), 'serve', ARCHIVE, '--port', String(port)],
    { env: { ...process.env, ...environment }, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const said = text(child.stderr);
  try {
    const url = `http://127.0.0.1:${port}`;
    await untilServing(url, child);
    if (child.exitCode !== null) throw new Error(await said);
    const answer = await fetch(`${url}/invocations`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-image' },
      body: await readFile(join(DIGITS, 'samples/00000-7.jpg')),
    });
    expect(await answer.json()).toMatchObject({ predictions: [{ digit: 7 }] });
  } finally {
    if (child.exitCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
  }
});

test('a key that is not there ends the command with 1 and says what to check', async () => {
  const { exitCode, stderr } = await sagemakerTfs(
    ['inspect', 's3://models/none.tar.gz'],
    environment,
  );
  expect(exitCode).toBe(1);
  expect(stderr).toContain('s3://models/none.tar.gz');
  expect(stderr).not.toContain('is not a constructor');
});
