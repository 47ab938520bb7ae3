/**
 * Whatever was thrown, read once. It may be anything: to read a getter or a proxy may throw again, causes may run in a
 * circle, and a message may hold a whole request. Nobody behind this file touches it.
 */
import { inspect } from 'node:util';

/** Characters of a message, and of a stack, that are shown and logged. */
const LONGEST_MESSAGE = 4_096;
const LONGEST_STACK = 16_384;
/** Characters of a name and of a code. */
const LONGEST_NAME = 256;
/** Errors of a chain of causes. */
const MAX_CAUSES = 4;
const UNREADABLE = 'it threw something that cannot be read';

/** Something thrown as plain data, each text cut. */
export interface PlainError {
  /** Name of the error. Default: `Error`. */
  readonly type: string;
  readonly message: string;
  /** Name, message and places, also of its causes. */
  readonly stack: string;
  /** Of system errors and of ours. */
  readonly code?: string;
  /** HTTP status. */
  readonly status?: number;
}

/** Reads what was thrown. Never throws. */
export function readThrown(thrown: unknown): PlainError {
  const plain = readOne(thrown);
  const stacks = [plain.stack];
  const seen = new Set([thrown]);
  for (let cause = causeOf(thrown); cause !== undefined; cause = causeOf(cause)) {
    if (seen.has(cause) || stacks.length > MAX_CAUSES) break;
    seen.add(cause);
    stacks.push(readOne(cause).stack);
  }
  return { ...plain, stack: stacks.join('\ncaused by: ') };
}

/** The same as an error, for `cause`. */
export function plainError(thrown: unknown): Error {
  const { type, message, stack } = readThrown(thrown);
  const plain = new Error(message);
  plain.name = type;
  plain.stack = stack;
  return plain;
}

function readOne(thrown: unknown): PlainError {
  const message = cutText(messageOf(thrown), LONGEST_MESSAGE);
  const name = textOf(thrown, 'name');
  const type = name ? cutText(name, LONGEST_NAME) : 'Error';
  const code = textOf(thrown, 'code');
  const status = propertyOf(thrown, 'status');
  return {
    type,
    message,
    stack: stackOf(thrown, `${type}: ${message}`),
    ...(code && { code: cutText(code, LONGEST_NAME) }),
    ...(Number.isInteger(status) && { status: status as number }),
  };
}

function messageOf(thrown: unknown): string {
  try {
    if (!isObject(thrown)) return String(thrown);
    const { message } = thrown as { message?: unknown };
    if (thrown instanceof Error || typeof message === 'string') return String(message);
    // Not its own `toString`: that of a sparse array has no end.
    const shown = { depth: 1, maxArrayLength: 10, maxStringLength: 1_000, customInspect: false };
    return inspect(thrown, { ...shown, breakLength: Infinity });
  } catch {
    return UNREADABLE;
  }
}

/**
 * The lines of a stack that name places, behind `title`: what stands there may be of any length. Before it a syntax
 * error has the line of code.
 */
function stackOf(thrown: unknown, title: string): string {
  const stack = textOf(thrown, 'stack') ?? '';
  const at = stack.indexOf('\n    at ');
  const places = at < 0 ? '' : stack.slice(at, at + LONGEST_STACK);
  const code = stack.slice(0, Math.max(0, stack.indexOf(title)));
  return `${cutText(code, LONGEST_MESSAGE)}${title}${places}`;
}

function causeOf(thrown: unknown): unknown {
  return propertyOf(thrown, 'cause') ?? undefined;
}

function textOf(thrown: unknown, property: string): string | undefined {
  const value = propertyOf(thrown, property);
  return typeof value === 'string' ? value : undefined;
}

function propertyOf(thrown: unknown, property: string): unknown {
  try {
    return isObject(thrown) ? (thrown as Record<string, unknown>)[property] : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

/** The text, or its beginning and three dots: as many characters at most. */
export function cutText(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 3)}...` : text;
}
