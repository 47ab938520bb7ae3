/** A fetch that cannot be done says what is in its way: the disk, or a name that is neither a folder nor a job. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, sagemakerTfs } from '../../test-support.ts';

const PROGRAM = join(ROOT, 'cli/bin/sagemaker-tfs.js');

jest.setTimeout(60_000);

let work: string;
beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), 'fetch-faults-'));
});
afterEach(() => rmSync(work, { recursive: true, force: true }));

test.each(['ndjson', 'csv', 'parquet'])(
  'a disk that takes no more is named, with the file: %s',
  async (format) => {
    const out = join(work, 'large');
    mkdirSync(out);
    const random = () => JSON.stringify({ text: randomBytes(60_000).toString('hex') });
    for (const name of ['a', 'b']) writeFileSync(join(out, `${name}.out`), random());
    const file = join(work, `all.${format}`);
    const command = `ulimit -f 40; exec "${process.execPath}" "${PROGRAM}" batch fetch "${out}" --out "${file}"`;
    const { status, stderr } = spawnSync('/bin/sh', ['-c', command], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining(`cannot write ${file}. Check its`),
    ]);
    expect(stderr).toContain('EFBIG');
    expect(existsSync(file)).toBe(false);
  },
);

test('a folder that is not there is named beside the job of that name', async () => {
  const { exitCode, stderr } = await sagemakerTfs(
    ['batch', 'fetch', 'outputs', '--out', join(work, 'all.ndjson')],
    {
      ...{ AWS_ENDPOINT_URL: 'http://127.0.0.1:9', AWS_REGION: 'us-east-1' },
      ...{ AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test', AWS_MAX_ATTEMPTS: '1' },
    },
  );
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(
    /there is no folder outputs here, so it is taken for a transform job. AWS does not answer: .*ECONNREFUSED.*Check the path\./,
  );
});
