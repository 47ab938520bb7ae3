import { fitted, shortBytes, styleOf } from '../output/style.ts';
import { quietLog } from './quiet-log.ts';

const STYLE = { ...styleOf({} as NodeJS.WriteStream), width: 40 };
const line = (entry: object) => `${JSON.stringify(entry)}\n`;

test('only warnings and errors of the runtime are shown, in words; all of it on demand', () => {
  const shown: string[] = [];
  const log = quietLog(STYLE, (text) => shown.push(text));
  const noise = { level: 'info', source: 'tensorflow_model_server', msg: 'oneDNN is on' };
  log.take(line(noise) + line({ ...noise, level: 'warn', msg: 'rebuild with AVX2' }).slice(0, 10));
  log.take(line({ ...noise, level: 'warn', msg: 'rebuild with AVX2' }).slice(10));
  log.take(line({ level: 'warn', msg: 'SAGEMAKER_TFS_TYPO is unknown' }));
  log.take(line({ level: 'warn', msg: 'invocation refused', requestId: '1-2' }));
  log.take(line({ level: 'error', msg: 'a handler failed', err: { message: 'no\nway' } }));
  log.take(line({ level: 'fatal', msg: 'the start failed', err: { message: 'told elsewhere' } }));
  log.take('2026-01-01 00:00:00.0: I tensorflow/core] hello\n');
  expect(shown).toEqual(['! SAGEMAKER_TFS_TYPO is unknown', '✗ a handler failed: no']);
  expect(log.toggle()).toBe(true);
  expect(shown).toHaveLength(2 + 7);
  log.take('raw\n');
  expect(shown.at(-1)).toBe('raw');
  expect(log.toggle()).toBe(false);
});

test('errors and warnings are shown whole', () => {
  const shown: string[] = [];
  const log = quietLog(STYLE, (text) => shown.push(text));
  const msg = `version 1 does not load: ${'x'.repeat(60)} Op type not registered 'AddV9'`;
  log.take(line({ level: 'error', msg }) + line({ level: 'warn', msg }));
  expect(shown).toHaveLength(2);
  for (const text of shown) {
    expect(text.replace(/\n {2}/g, ' ')).toMatch(/^[✗!] version .*Op type not registered 'AddV9'$/);
    for (const row of text.split('\n')) expect(row.length).toBeLessThanOrEqual(40);
  }
});

test('the hint at the raw log comes once, and not to those who have seen it', () => {
  const shown: string[] = [];
  const log = quietLog(STYLE, (text) => shown.push(text));
  log.hint();
  log.hint();
  expect(shown).toEqual(['  l shows the raw log of it']);
  const other = quietLog(STYLE, (text) => shown.push(text));
  other.toggle();
  other.toggle();
  other.hint();
  expect(shown).toHaveLength(1);
});

test('a line never takes more columns than there are, and colors only where they are wanted', () => {
  expect(fitted('äöü…😀 end', 6)).toBe('äöü…😀…');
  expect([0, 99, 100, 1_234, 12_345, 3_000_000].map(shortBytes)).toEqual([
    '0 B',
    '99 B',
    '0.1 kB',
    '1.2 kB',
    '12 kB',
    '3 MB',
  ]);
  const terminal = { isTTY: true, columns: 0 } as NodeJS.WriteStream;
  expect(styleOf(terminal, {}).good('x')).toBe('\x1b[32mx\x1b[0m');
  for (const environment of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) {
    expect(styleOf(terminal, environment).good('x')).toBe('x');
  }
  expect(styleOf(terminal, {}).width).toBe(80);
  expect(styleOf({ ...terminal, columns: 40 } as NodeJS.WriteStream).width).toBe(40);
  expect(styleOf({} as NodeJS.WriteStream).width).toBe(Number.POSITIVE_INFINITY);
});
