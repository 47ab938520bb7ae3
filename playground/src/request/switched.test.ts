/** Numbers as people write them, and what is wrong with others. */
import { switchedOf, wrongNumbers } from './switched.ts';

test.each<[text: string, scale: number[] | undefined, fault: RegExp]>([
  ['2', [2], /^undefined$/],
  ['0.1, 0.2, 0.3', [0.1, 0.2, 0.3], /^undefined$/],
  [' [0.1,0.2,0.3] ', [0.1, 0.2, 0.3], /^undefined$/],
  ['1/255', undefined, /^'1\/255' is no number\. One, or one for each channel/],
  ['1, , 1', undefined, /^'' is no number/],
  ['1, 1, 1, 1, 1', undefined, /^5 numbers, but at most 4/],
])('%j', (text, scale, fault) => {
  expect(switchedOf({ scale: text }).scale).toEqual(scale);
  expect(String(wrongNumbers({ scale: text }).scale)).toMatch(fault);
});
