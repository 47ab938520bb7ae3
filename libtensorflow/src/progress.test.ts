import { showProgress } from './progress.ts';

/** What is written to a stream; as the last state, as bars are drawn a few times a second. */
function written(isTTY: boolean, use: (bar: ReturnType<typeof showProgress>) => void): string {
  const parts: string[] = [];
  const stream = { isTTY, columns: 80, on() {}, write: (text: string) => parts.push(text) };
  const bar = showProgress('jobs', 0, stream as unknown as NodeJS.WriteStream);
  use(bar);
  bar.stop();
  return parts.join('');
}

test.each([true, false])(
  'a total that is not known is not shown as 0, in a terminal (%s) or not',
  (isTTY) => {
    const unknown = written(isTTY, (bar) => bar.update(3, 'b completed'));
    expect(unknown).toContain('  jobs 3 b completed');
    expect(unknown).not.toMatch(/\/0|█|NaN|%/);
    const known = written(isTTY, (bar) => {
      bar.total(4);
      bar.update(3);
    });
    expect(known).toContain(isTTY ? '█████░░░░░ 75% 3/4' : '  jobs 3/4\n');
    expect(known).not.toContain('0/0');
  },
);
