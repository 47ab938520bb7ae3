/** The defaults that the props show are those that are used. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_SETTINGS, fallbackTypes } from '@sagemaker-tfs/batch';

const text = readFileSync(join(__dirname, 'props.ts'), 'utf8');
const shown = [
  ...text.matchAll(/@default ([^\n]*?)(?: \*\/)?\n(?: {3}\*\/\n)? {2}readonly (\w+)\?/g),
].map(([, value = '', name = '']) => ({ name, value }));
const settings: Readonly<Record<string, unknown>> = DEFAULT_SETTINGS;
const compared = shown.filter(({ name, value }) => name in settings && !value.startsWith('-'));

test('most settings show their default', () => {
  expect(compared.length).toBeGreaterThan(12);
});

test.each(compared)('$name shows $value', ({ name, value }) => {
  const used = settings[name];
  const form = typeof used === 'string' ? `'${used}'` : String(used);
  expect(value.split(', ')[0]).toBe(form);
});

test('the fallback types and the time of a request', () => {
  const [first, second] = fallbackTypes(DEFAULT_SETTINGS.instanceType);
  expect(shown).toContainEqual({
    name: 'fallbackInstanceTypes',
    value: expect.stringContaining(`\`${first}\`, then \`${second}\``),
  });
  expect(shown).toContainEqual({
    name: 'invocationsTimeout',
    value: `Duration.minutes(${DEFAULT_SETTINGS.invocationsTimeoutInSeconds / 60})`,
  });
});
