/**
 * What a handler threw, read once. It may be anything: to read a getter or a proxy may throw again, and a message may
 * hold a whole request. Nobody behind this file touches it.
 */
import { ServingError } from '../errors.ts';
import { isHttpError } from './http-error.ts';

/** Characters of a message, and of a stack, that are shown and logged. */
const LONGEST_MESSAGE = 4_096;
const LONGEST_STACK = 16_384;

/** True for errors with a status and message of their own. */
export function isForClient(thrown: unknown): boolean {
  try {
    return thrown instanceof ServingError || isHttpError(thrown);
  } catch {
    return false;
  }
}

/** The same as a plain error: message and stack, cut. */
export function readThrown(thrown: unknown): Error {
  const plain = new Error(cut(messageOf(thrown), LONGEST_MESSAGE));
  plain.stack = stackOf(thrown, plain.message);
  return plain;
}

function messageOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? String(thrown.message) : String(thrown);
  } catch {
    return 'it threw something that cannot be read';
  }
}

/** The stack begins with name and message, which are cut apart from the places behind them. */
function stackOf(thrown: unknown, message: string): string {
  try {
    if (!(thrown instanceof Error) || typeof thrown.stack !== 'string') return message;
    const { stack } = thrown;
    const at = stack.indexOf('\n    at ');
    const places = at < 0 ? '' : stack.slice(at, at + LONGEST_STACK);
    return `${cut(String(thrown.name), LONGEST_MESSAGE)}: ${message}${places}`;
  } catch {
    return message;
  }
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 3)}...` : text;
}
