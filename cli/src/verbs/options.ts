/** Parsers of option values that several verbs share. */
import { existsSync, readFileSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import { doesNotExist } from '../errors.ts';

/** A whole number from `least` on, and up to `most` where there is a limit. */
export function wholeNumber(least = 1, most?: number): (text: string) => number {
  const range = most === undefined ? `from ${least} on` : `from ${least} to ${most}`;
  return (text) => {
    const value = Number(text);
    const isInside = value >= least && (most === undefined || value <= most);
    // Number('') is 0: an unset variable of a script.
    if (text.trim() !== '' && Number.isInteger(value) && isInside) return value;
    throw new InvalidArgumentError(`${text || 'nothing'} is not a whole number ${range}.`);
  };
}

/** A TCP port to listen on. */
export const port = wholeNumber(1, 65_535);

/** A share, from 0 exclusive to 1. */
export function share(text: string): number {
  const value = Number(text);
  if (value > 0 && value <= 1) return value;
  throw new InvalidArgumentError(`${text} is no share; give one above 0 and up to 1, such as 0.7.`);
}

/** A share, from 0 inclusive to 1. */
export function part(text: string): number {
  return text.trim() !== '' && Number(text) === 0 ? 0 : share(text);
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

/** Most often a shell has taken the double quotes. */
const QUOTING = `Write JSON in single quotes, '{"key": "value"}', or in a file, @file.json.`;

/** A JSON object, as text or as `@file`. */
export function jsonValue(text: string): object {
  try {
    const json = text.startsWith('@') ? readFile(text.slice(1)) : text;
    const value: unknown = JSON.parse(json);
    if (typeof value === 'object' && value !== null) return value;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new InvalidArgumentError(text.startsWith('@') ? reason : `${reason}. ${QUOTING}`);
  }
  throw new InvalidArgumentError(`${text} is not a JSON object.`);
}

function readFile(name: string): string {
  if (!existsSync(name)) throw doesNotExist(name);
  return readFileSync(name, 'utf8');
}

/** A number above 0, such as dollars or seconds. */
export function positive(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError(`${text} is not a number above 0.`);
}
