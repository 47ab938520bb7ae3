import * as z from 'zod';
import { byName } from './by-name.ts';

const NAMES = ['constructor', 'toString', 'hasOwnProperty', '__proto__'];
const numbers = byName(z.number());

test('names that objects have are names', () => {
  const given = Object.fromEntries(NAMES.map((name, index) => [name, index]));
  expect(Object.entries(numbers.parse(given))).toEqual(Object.entries(given));
});

test.each([[[1]], ['x'], [null], [undefined], [{ __proto__x: 'y' }]])('%j is refused', (value) => {
  expect(numbers.safeParse(value).success).toBe(false);
});
