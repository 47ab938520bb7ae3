import { runtimeLog } from './runtime-log.ts';

const line = (entry: object) => `${JSON.stringify(entry)}\n`;

function terminal() {
  const written: string[] = [];
  const write = (text: string) => written.push(text);
  const stream = { isTTY: true, columns: 80, write } as unknown as NodeJS.WriteStream;
  return { stream, written };
}

test('in a terminal, words instead of JSON, once each, on a line of their own', () => {
  const { stream, written } = terminal();
  const take = runtimeLog(stream);
  if (typeof take !== 'function') throw new Error('the log goes through');
  const warning = line({ level: 'warn', msg: 'SAGEMAKER_TFS_TYPO is unknown' });
  take(warning + line({ level: 'warn', msg: 'invocation refused', requestId: '1-2' }));
  take(warning);
  expect(written).toHaveLength(1);
  expect(written[0]?.startsWith('\r\x1b[K')).toBe(true);
  expect(written[0]).toMatch(/SAGEMAKER_TFS_TYPO is unknown\n$/);
});

test('elsewhere the lines as they are', () => {
  expect(runtimeLog({ isTTY: false } as NodeJS.WriteStream)).toBe('inherit');
});
