/** What is said of fields that a schema does not have. */
import { distance } from 'fastest-levenshtein';
import * as z from 'zod';

/** Edits by length of the name: two in five (`modle`) are a slip of the finger, more is another word. */
const SLIP = 0.4;

/** Names that one message has at most, and characters of a name: distances of long ones take long. */
const MAX_NAMED = 10;
const MAX_CHARACTERS = 64;

function shortened(name: string): string {
  return name.length > MAX_CHARACTERS ? `${name.slice(0, MAX_CHARACTERS)}...` : name;
}

/**
 * For zod's `error` option: of unknown fields it says what they may have meant, or what there is.
 * @returns undefined for other issues, which keep zod's message
 */
export function unknownFields(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== 'unrecognized_keys' || !(issue.inst instanceof z.ZodObject)) return undefined;
  const known = issue.inst;
  const told = issue.keys
    .slice(0, MAX_NAMED)
    .map((name) => `unknown field '${shortened(name)}'; ${adviceOn(shortened(name), known)}`);
  if (issue.keys.length > MAX_NAMED) told.push(`${issue.keys.length - MAX_NAMED} more`);
  return told.join('. ').replaceAll('?. ', '? ');
}

function adviceOn(name: string, known: z.ZodObject): string {
  const fields = Object.keys(known.shape);
  const meant = nearestName(name, fields) ?? pathBelow(name, known);
  return meant === undefined ? `the fields are ${fields.join(', ')}` : `did you mean '${meant}'?`;
}

/** The known name that `name` most likely misspells; undefined if none is near. Case does not count. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const edits = (other: string) => distance(name.toLowerCase(), other.toLowerCase());
  const [nearest] = known
    .map((other) => ({ other, edits: edits(other) }))
    .sort((a, b) => a.edits - b.edits);
  const isNear = nearest && nearest.edits <= Math.max(name.length, nearest.other.length) * SLIP;
  return isNear ? nearest.other : undefined;
}

/** `endpoint.instanceType` for an `instanceType` that stands beside `endpoint`. */
function pathBelow(name: string, known: z.ZodObject): string | undefined {
  for (const [field, schema] of Object.entries(known.shape)) {
    const inner = unwrapped(schema);
    if (inner instanceof z.ZodObject && name in inner.shape) return `${field}.${name}`;
  }
  return undefined;
}

function unwrapped(schema: unknown): unknown {
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault;
  return isWrapped ? unwrapped(schema.unwrap()) : schema;
}
