/** Objects with names that come from a model. */
import * as z from 'zod';

/** As `z.record` of strings, with an entry called `__proto__`, which `z.record` leaves out. */
export function byName<Schema extends z.ZodType>(entry: Schema) {
  const entries = z
    .map(z.string(), entry, { error: 'expected an object' })
    .transform((map): Record<string, z.output<Schema>> => Object.fromEntries(map));
  return z.preprocess(
    (value) => (isObject(value) ? new Map(Object.entries(value)) : value),
    entries,
  );
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
