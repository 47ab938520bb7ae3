/** What is wrong with a field of the configuration, in words: zod's own are for who writes a schema. */
import { unknownFields } from '@sagemaker-tfs/manifest';
import type * as z from 'zod';

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

/** The message of an issue; undefined leaves it to zod. For `error` of zod's `safeParse`. */
export function configWords(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'unrecognized_keys':
      return unknownFields(issue);
    case 'invalid_type':
      return typeWords(issue.expected, issue.input);
    case 'too_small':
      return sizeWords(issue, issue.minimum, issue.inclusive === false ? 'more than' : 'at least');
    case 'too_big':
      return sizeWords(issue, issue.maximum, issue.inclusive === false ? 'less than' : 'at most');
    default:
      return undefined;
  }
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
