/** Keys are others' texts: what `batch verify` lists of them stays on its line. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGeneratedS3 } from '../../../../tools/generated-s3.ts';
import { sagemakerTfs } from '../test-support.ts';

const KEY = 'a\n0 of 0 inputs\r\u001b[2J\u202e';

test('line breaks and escapes of keys are not printed', async () => {
  const bodyOf = () => Buffer.from('1');
  const s3 = await startGeneratedS3({
    tiles: { count: 1, keyOf: () => `in/${KEY}`, bodyOf },
    out: { count: 1, keyOf: () => `x/b${KEY}.out`, bodyOf },
  });
  const work = mkdtempSync(join(tmpdir(), 'verify-lines-'));
  try {
    const { stdout, exitCode } = await sagemakerTfs(
      [
        ...['batch', 'verify', '--input-uri', 's3://tiles/in/', '--output-uri', 's3://out/x/'],
        ...['--redrive', join(work, 'redrive.manifest')],
      ],
      s3.environment,
    );
    expect(exitCode).toBe(1);
    const shown = 'a·0 of 0 inputs··[2J·';
    expect(stdout).toContain(`\n  no output: ${shown}\n`);
    expect(stdout).toContain(`\n  no input: b${shown}\n`);
  } finally {
    await s3.close();
    rmSync(work, { recursive: true, force: true });
  }
});
