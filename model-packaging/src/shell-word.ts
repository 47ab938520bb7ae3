/** Words of commands that people copy. */

/** A word as a POSIX shell reads it: in single quotes where it holds more than letters, digits and `_ . / - = : @ %`. */
export function shellWord(text: string): string {
  return /^[\w./=:@%+-]+$/.test(text) ? text : quotedWord(text);
}

/** A word in single quotes, whatever it holds. */
export function quotedWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
