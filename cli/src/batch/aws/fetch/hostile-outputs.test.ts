/** Outputs that one client made hostile do not keep those of the others from being fetched. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sagemakerTfs } from '../../test-support.ts';

jest.setTimeout(60_000);

let work: string;
beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), 'hostile-outputs-'));
  writeFileSync(join(work, 'good.json.out'), '{"predictions":[{"score":1}]}');
});
afterEach(() => rmSync(work, { recursive: true, force: true }));

test.each(['csv', 'parquet', 'ndjson'])(
  'an answer nested thousands deep is a row of %s, beside the others',
  async (format) => {
    const deep = `${'['.repeat(4000)}${']'.repeat(4000)}`;
    writeFileSync(join(work, 'deep.json.out'), `{"predictions":[${deep}]}`);
    const out = `${work}.${format}`;
    const { exitCode, stderr } = await sagemakerTfs([
      ...['batch', 'fetch', work, '--out', out, '--format', format],
    ]);
    expect([exitCode, stderr]).toEqual([0, expect.anything()]);
    const text = readFileSync(out).toString('latin1');
    rmSync(out);
    expect(text).toContain('good.json');
    expect(text).toContain(format === 'ndjson' ? deep : 'nested too deep for a cell');
  },
);

test('a pipe among the outputs is named, and not waited for', async () => {
  const pipe = join(work, 'pipe.json.out');
  execFileSync('mkfifo', [pipe]);
  const { exitCode, stderr } = await sagemakerTfs([
    ...['batch', 'fetch', work, '--out', `${work}.csv`, '--format', 'csv'],
  ]);
  expect([exitCode, stderr]).toEqual([
    2,
    expect.stringContaining(`${pipe}: it is a folder, a pipe`),
  ]);
});
