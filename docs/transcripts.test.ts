/** What the tutorials show is what the commands print, but for times, sizes and digests. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PAGES, run, shownIn, steady, withOutputs } from './transcripts.ts';

test('outputs are replaced, commands and exit statuses kept', () => {
  const page = 'a\n\n```console\n$ one \\\n  two\nold\n# exit status 2\n$ three\n```\n\nb\n';
  expect(shownIn(page)).toEqual([
    { command: 'one \\\n  two', status: 0, output: 'old' },
    { command: 'three', status: 2, output: '' },
  ]);
  const written = withOutputs(page, ['new', 'bad\nworse']);
  expect(written).toBe(
    'a\n\n```console\n$ one \\\n  two\nnew\n# exit status 2\n$ three\nbad\nworse\n```\n\nb\n',
  );
  expect(withOutputs(written, ['new', 'bad\nworse'])).toBe(written);
});

test.each(PAGES)('docs/%s', (name) => {
  const shown = shownIn(readFileSync(join(__dirname, name), 'utf8'));
  expect(shown.length).toBeGreaterThan(name === 'batch.md' ? 0 : 3);
  const ran = run(shown.map(({ command }) => command));
  const seen = shown.map(({ command }, index) => ({ command, ...ran[index] }));
  const expected = shown.map(({ command, status, output }) => ({ command, status, output }));
  const comparable = (all: readonly { output?: string }[]) =>
    all.map((one) => ({ ...one, output: steady(one.output ?? '') }));
  expect(comparable(seen)).toEqual(comparable(expected));
});
