import { readableJson } from './readable-json.ts';

test.each([
  ['[0.11250000447034836,-1.5e-7]', '[0.1125, -1.5e-7]'],
  ['[12345678,0.5,123456.789]', '[12345678, 0.5, 123457]'],
  ['{"a":"0.123456789,\\"x","b":1.23456789}', '{"a":"0.123456789,\\"x", "b":1.23457}'],
  ['["cut 0.123456789', '["cut 0.123456789'],
])('%s is shown as %s', (text, expected) => {
  expect(readableJson(text)).toBe(expected);
});
