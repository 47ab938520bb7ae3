/** Lists and objects of many entries, each checked until a few are wrong. */
import * as z from 'zod';
import { fieldWords } from './field-words.ts';

/** Wrong entries after which no more are looked at: a message names ten, and each costs more than a right one. */
const MAX_WRONG = 11;

/** As `z.record` of strings, with an entry called `__proto__`, which `z.record` leaves out. */
export function byName<Schema extends z.ZodType>(entry: Schema) {
  return z.unknown().transform((value, context): Record<string, z.output<Schema>> => {
    if (!isObject(value)) return refused(context, 'expected an object');
    const entries = Object.entries(value);
    const checked = checkedEntries(entry, entries, context);
    return Object.fromEntries((checked ?? []).map((one, i) => [entries[i]?.[0], one]));
  });
}

/** As `z.array`. */
export function listOf<Schema extends z.ZodType>(
  entry: Schema,
  { least = 0, most = Infinity }: { readonly least?: number; readonly most?: number } = {},
) {
  return z.unknown().transform((value, context): z.output<Schema>[] => {
    if (!Array.isArray(value)) return refused(context, 'expected a list');
    if (value.length < least) return refused(context, `expected ${least} or more entries`);
    if (value.length > most) return refused(context, `expected ${most} entries at most`);
    return checkedEntries(entry, [...value.entries()], context) ?? z.NEVER;
  });
}

/** Undefined if one is wrong. */
function checkedEntries<Schema extends z.ZodType>(
  schema: Schema,
  entries: readonly (readonly [string | number, unknown])[],
  context: z.RefinementCtx,
): z.output<Schema>[] | undefined {
  const checked: z.output<Schema>[] = [];
  let wrong = 0;
  for (const [name, value] of entries) {
    const { success, data, error } = schema.safeParse(value, { error: fieldWords });
    if (success) checked.push(data);
    for (const { message, path } of error?.issues ?? []) {
      if (wrong++ < MAX_WRONG) context.addIssue({ code: 'custom', message, path: [name, ...path] });
    }
    if (wrong >= MAX_WRONG) return undefined;
  }
  return wrong > 0 ? undefined : checked;
}

function refused(context: z.RefinementCtx, message: string): never {
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
