import type { RequestVerification, VerifyReport } from '@sagemaker-tfs/model-packaging';
import { styleOf } from '../output/style.ts';
import { verifyLines } from './package-lines.ts';

const style = { ...styleOf({ isTTY: false } as NodeJS.WriteStream), width: 80 };

const request = (own: Partial<RequestVerification>): RequestVerification => ({
  ...{ sample: 'a.json', contentType: 'application/json', status: 200, latencyMs: 2 },
  ...{ responseType: 'application/json', responseBytes: 10, preview: '', note: '' },
  ...own,
});

const report = (
  requests: readonly RequestVerification[],
  signature: object = { firstMs: 1, medianMs: 1 },
): VerifyReport => ({
  archive: 'model.tar.gz',
  versions: [
    {
      ...{ model: 'm', version: '1', loadMs: 5 },
      signatures: [{ signature: 's', sample: 'synthetic', outputs: {}, note: '', ...signature }],
    },
  ],
  requests,
});

/** The view, each of its lines within the terminal, as one text. */
function shown(of: VerifyReport): string {
  const lines = verifyLines(of, style);
  for (const line of lines) expect(Array.from(line).length).toBeLessThanOrEqual(80);
  return lines.join('\n').replace(/\n {2}/g, ' ');
}

test('a long note is wrapped, not cut: its ways out are what the reader needs', () => {
  const ways = 'Ask for fewer outputs (tfs-outputs), or an asynchronous endpoint: it carries 1 GB.';
  const note = `the answer has 29.0 MB, more than a real-time endpoint (25 MB) or a serverless one (4 MB) carries. ${ways}`;
  expect(shown(report([request({ note })]))).toContain(note);
});

test('200 characters of each answer, and whose it is', () => {
  const [one, other] = ['x'.repeat(200), `[${'1, '.repeat(66)}]`] as const;
  const text = shown(
    report([
      request({ sample: 'a.json', preview: one }),
      request({ sample: 'b.json', preview: other }),
    ]),
  ).replaceAll(' ', '');
  expect(text).toContain(`a.json:${one}`);
  expect(text).toContain(`b.json:${other.replaceAll(' ', '')}`);
});

test('what was not run, what was refused, and the flag that helps', () => {
  const left = shown(report([request({})], { note: 'its input is a table' }));
  expect(left).toContain('✗ ran       0 of 1 signature');
  expect(left).toContain('s: its input is a table');
  expect(left).toContain('Not run: s of m version 1.');
  expect(left).toContain('Give what clients send with --sample FILE.');
  const refused = shown(report([request({ status: 400, note: 'refused: bad.' })]));
  expect(refused).toContain('Refused: every request through the runtime.');
  expect(refused).toContain('--sample FILE');
  expect(shown(report([request({})]))).not.toContain('--sample');
});
