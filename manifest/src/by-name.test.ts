import * as z from 'zod';
import { byName, listOf } from './by-name.ts';

const NAMES = ['constructor', 'toString', 'hasOwnProperty', '__proto__'];
const numbers = byName(z.number());

test('names that objects have are names', () => {
  const given = Object.fromEntries(NAMES.map((name, index) => [name, index]));
  expect(Object.entries(numbers.parse(given))).toEqual(Object.entries(given));
});

test.each([[[1]], ['x'], [null], [undefined], [{ __proto__x: 'y' }]])('%j is refused', (value) => {
  expect(numbers.safeParse(value).success).toBe(false);
});

test('few wrong entries are looked at, however many there are', () => {
  let looks = 0;
  const wrong = z.unknown().refine(() => {
    looks++;
    return false;
  });
  const values = Array.from({ length: 10_000 }, () => 0);
  const issues = (schema: z.ZodType, value: unknown) => schema.safeParse(value).error?.issues;
  expect(issues(byName(wrong), { ...values })?.[1]?.path).toEqual(['1']);
  expect(issues(listOf(wrong), values)?.[1]?.path).toEqual([1]);
  expect(looks).toBeLessThan(30);
});

test('lists have as many entries as they may', () => {
  const few = listOf(z.number(), { least: 1, most: 2 });
  const taken = [[], [1], [1, 2], [1, 2, 3], ['x'], {}].map((one) => few.safeParse(one).success);
  expect(taken).toEqual([false, true, true, false, false, false]);
});
