/** Parsers of option values that several verbs share. */
import { readFileSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';

/** A whole number from `least` on. */
export function wholeNumber(least = 1): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < least) {
      throw new InvalidArgumentError(`${text} is not a whole number from ${least} on.`);
    }
    return value;
  };
}

/** Highest TCP port. */
const MAX_PORT = 65_535;

/** A TCP port to listen on. */
export function port(text: string): number {
  const value = wholeNumber()(text);
  if (value <= MAX_PORT) return value;
  throw new InvalidArgumentError(`${text} is not a port; the highest is ${MAX_PORT}.`);
}

/** A share, from 0 exclusive to 1. */
export function share(text: string): number {
  const value = Number(text);
  if (value > 0 && value <= 1) return value;
  throw new InvalidArgumentError(`${text} is no share; give one above 0 and up to 1, such as 0.7.`);
}

/** `NAME=VALUE`, collected into a record. */
export function keyValue(
  text: string,
  previous: Record<string, string> = {},
): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError(`${text} is not NAME=VALUE.`);
  return { ...previous, [text.slice(0, at)]: text.slice(at + 1) };
}

/** One of several values of an option that may be repeated. */
export function list(text: string, previous: string[] = []): string[] {
  return [...previous, text];
}

/** A JSON object, as text or as `@file`. */
export function jsonValue(text: string): object {
  try {
    const json = text.startsWith('@') ? readFileSync(text.slice(1), 'utf8') : text;
    const value: unknown = JSON.parse(json);
    if (typeof value === 'object' && value !== null) return value;
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
  throw new InvalidArgumentError(`${text} is not a JSON object.`);
}
