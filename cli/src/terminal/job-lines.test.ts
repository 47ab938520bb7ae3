import type { JobResult } from '../batch/local/agent.ts';
import { styleOf } from '../output/style.ts';
import { jobLines } from './job-lines.ts';

const STYLE = { ...styleOf({} as NodeJS.WriteStream), width: 60 };
const RESULT: JobResult = {
  ...{ done: 4, skipped: 0, failed: 0, inputs: 4, missing: 0, seconds: 2 },
  ...{ failures: [], duplicates: [], maxConcurrentTransforms: 1 },
};
const failure = (key: string, message: string, status?: number) => ({ key, message, status });

test('all is done: one line', () => {
  expect(jobLines(RESULT, ['batch', 'local', 'in', '--out', 'out'], STYLE)).toEqual([
    '✓ 4 of 4 inputs have an output · 2.0 s · 2.0/s',
  ]);
});

test('the most frequent reason comes first, keys are counted, nothing is cut or wider than there is room', () => {
  const failures = [
    failure('once', 'the runtime ended'),
    ...['a', 'b', 'c', 'd'].map((key) => failure(key, `${'long '.repeat(30)}\nmore`, 400)),
  ];
  const result = { ...RESULT, failed: 5, missing: 5, inputs: 9, failures };
  const lines = jobLines(result, [], STYLE);
  expect(lines.slice(2)).toEqual([
    `  4 × 400:${' long'.repeat(10)}`,
    `     ${' long'.repeat(11)}`,
    `     ${' long'.repeat(9)}`,
    '      a, b, c and 1 more',
    '  1 × the runtime ended',
    '      once',
  ]);
  const narrow = jobLines(result, [], { ...STYLE, width: 40 });
  expect(narrow.join(' ').match(/long/g)).toHaveLength(30);
  expect(Math.max(...narrow.map((line) => line.length))).toBeLessThanOrEqual(40);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
});

test('many reasons are counted, control characters do nothing', () => {
  const failures = Array.from({ length: 12 }, (_, i) => failure(`k${i}`, `reason \x1b[2J ${i}`));
  const lines = jobLines({ ...RESULT, missing: 12, failed: 12, failures }, [], STYLE);
  expect(lines.at(-1)).toBe('  … and 2 more reasons');
  expect(lines.join()).not.toContain('\x1b');
});

test.each([[['--manifest', 'old']], [['--manifest=old']], [[]]])(
  'the command to retry has one manifest, given %j',
  (given) => {
    const result = { ...RESULT, missing: 1, redriveManifest: 'new 1' };
    const words = ['batch', 'local', 'in', ...given, '--out', 'out'];
    expect(jobLines(result, words, STYLE).at(-1)).toBe(
      "  Retry  npx sagemaker-tfs batch local in --out out --manifest 'new 1'",
    );
  },
);
