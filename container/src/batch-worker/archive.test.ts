/** The archive of a worker: what one leaves that is killed, and what is said of one that cannot be read. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { modelDirectoryAt } from './archive.ts';

const server = createServer(({ url = '' }, response) => {
  const [status, code] = url.includes('absent') ? [404, 'NoSuchKey'] : [403, 'AccessDenied'];
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(`<Error><Code>${code}</Code><Message>It says why</Message></Error>`);
});
const before = { ...process.env };
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterEach(() => {
  process.env = { ...before };
});
afterAll(() => server.close());

const KEYS = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' };
const REGION = { AWS_REGION: 'us-east-1' };

test.each<[string, env: Record<string, string>, advice: RegExp, uri?: string]>([
  ['without a region', KEYS, /Region is missing\. Set AWS_REGION\.$/],
  ['without credentials', REGION, /Check the credentials of the worker, and its way to S3\.$/],
  ['that S3 refuses', { ...KEYS, ...REGION }, /The role needs s3:GetObject for it\.$/],
  [
    'that is not there',
    { ...KEYS, ...REGION },
    /Check its bucket and key\.$/,
    's3://models/absent',
  ],
])('a model %s', async (_, env, advice, uri = 's3://models/model.tar.gz') => {
  const none = Object.entries(before).filter(([name]) => !name.startsWith('AWS_'));
  process.env = {
    ...Object.fromEntries(none),
    ...{ AWS_CONFIG_FILE: '/none', AWS_SHARED_CREDENTIALS_FILE: '/none' },
    ...{ AWS_EC2_METADATA_DISABLED: 'true', AWS_MAX_ATTEMPTS: '1' },
    AWS_ENDPOINT_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...env,
  };
  const refused = { code: 'MODEL_UNREADABLE', message: expect.stringMatching(advice) };
  await expect(modelDirectoryAt(uri)).rejects.toMatchObject(refused);
});

test('what a killed worker has left is removed by the next one', async () => {
  const work = mkdtempSync(join(tmpdir(), 'archive-'));
  const archive = join(work, 'model.tar.gz');
  writeFileSync(join(work, 'file'), 'of the model');
  execFileSync('tar', ['-czf', archive, '-C', work, 'file']);
  // No process has this id.
  const left = join(tmpdir(), 'sagemaker-tfs-4194305-1-0');
  mkdirSync(left, { recursive: true });
  const { path, remove } = await modelDirectoryAt(archive);
  expect([existsSync(left), existsSync(join(path, 'file'))]).toEqual([false, true]);
  await remove();
  expect(existsSync(path)).toBe(false);
  rmSync(work, { recursive: true });
});
