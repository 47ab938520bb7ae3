/** What is wrong with fields that people or programs wrote, in words: zod's own are for who writes a schema. */
import type * as z from 'zod';
import { unknownFields } from './unknown-fields.ts';

/** What zod calls the types that a field may have. */
const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** What zod calls forms of texts. */
const FORMATS: Readonly<Record<string, string>> = { email: 'an email address', url: 'a URL' };

/** The message of an issue; undefined leaves it to zod. For `error` of zod's `safeParse`. */
export function fieldWords(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'unrecognized_keys':
      return unknownFields(issue);
    case 'invalid_type':
      return typeWords(issue.expected, issue.input);
    case 'too_small':
      return sizeWords(issue, issue.minimum, issue.inclusive === false ? 'more than' : 'at least');
    case 'too_big':
      return sizeWords(issue, issue.maximum, issue.inclusive === false ? 'less than' : 'at most');
    case 'invalid_value':
      return `${shown(issue.input)} is not ${anyOf(issue.values)}`;
    case 'invalid_format':
      return `${shown(issue.input)} ${FORMATS[issue.format] ? `is not ${FORMATS[issue.format]}` : 'has the wrong format'}`;
    case 'invalid_union':
      return `${shown(issue.input)} is not an allowed value`;
    default:
      return undefined;
  }
}

/** Wrong fields that a message names. */
const MAX_NAMED = 10;

/** A line for each wrong field: its path and what is wrong. @param root the name of the whole */
export function wrongFields({ issues }: z.core.$ZodError, root = ''): string[] {
  const lines = issues
    .slice(0, MAX_NAMED)
    .flatMap((issue) => fieldFaults(issue))
    .map(({ path, message }) => `${nameOf(path) || root}: ${message}`.replace(/^: /, ''));
  return issues.length > MAX_NAMED ? [...lines, 'and more'] : lines;
}

interface FieldFault {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** What an issue says; of a union, what the variant says that is wrong in the fewest places. */
export function fieldFaults(
  issue: z.core.$ZodIssue,
  parents: readonly PropertyKey[] = [],
): FieldFault[] {
  const path = [...parents, ...issue.path];
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const [closest = []] = [...issue.errors].sort((a, b) => weight(a) - weight(b));
    return closest.flatMap((inner) => fieldFaults(inner, path));
  }
  // The rule of names says what is wrong with a field's name.
  const rules = issue.code === 'invalid_key' ? issue.issues : [issue];
  return rules.map(({ message }) => ({ path, message }));
}

/** Unknown fields weigh more than wrong values: they mean that another variant was intended. */
function weight(issues: readonly z.core.$ZodIssue[]): number {
  return issues.reduce((sum, { code }) => sum + (code === 'unrecognized_keys' ? 2 : 1), 0);
}

/** `variants[0].name`. */
function nameOf(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');
}

function anyOf(values: readonly unknown[]): string {
  const last = values.map(shown);
  const [one = '', ...others] = last.reverse();
  return others.length === 0 ? one : `${others.reverse().join(', ')} or ${one}`;
}

function typeWords(expected: string, input: unknown): string | undefined {
  const wanted = TYPES[expected];
  if (wanted === undefined) return undefined;
  return input === undefined ? `missing. Give ${wanted}` : `${shown(input)} is not ${wanted}`;
}

function sizeWords(
  { origin, input }: { readonly origin: string; readonly input?: unknown },
  limit: number | bigint,
  bound: string,
): string | undefined {
  if (origin === 'number' || origin === 'int')
    return `${shown(input)} is out of range. Give ${bound} ${limit}`;
  const noun = { string: 'character', array: 'entry' }[origin];
  if (noun === undefined) return undefined;
  const many = noun === 'entry' ? 'entries' : `${noun}s`;
  return `it has to have ${bound} ${limit} ${Number(limit) === 1 ? noun : many}`;
}

function shown(input: unknown): string {
  if (typeof input === 'string') return `'${input}'`;
  if (Array.isArray(input)) return 'a list';
  return typeof input === 'object' && input !== null ? 'an object' : String(input);
}
