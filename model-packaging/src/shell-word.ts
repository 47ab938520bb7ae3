/** Words of commands that people copy. */

/** A word as a POSIX shell reads it: in single quotes where it holds more than letters, digits and `_ . / - = : @ %`. */
export function shellWord(text: string): string {
  return /^[\w./=:@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
