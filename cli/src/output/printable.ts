/** Text from others (names, answers, messages) as it may be shown: it must not move the cursor or turn text round. */

const CONTROL = /\p{Cc}|\p{Bidi_Control}/gu;
/** All but the line's end. */
const CONTROL_IN_LINES = /(?!\n)\p{Cc}|\p{Bidi_Control}/gu;

/** The text on one line without control characters. */
export function printable(text: string): string {
  return text.replace(CONTROL, '·');
}

/** {@link printable}, with its lines kept. */
export function printableLines(text: string): string {
  return text.replace(CONTROL_IN_LINES, '·');
}

/**
 * JSON that every program reads: big integers, NaN and infinities, which it has no numbers for, as texts. JSON.stringify leaves
 * some control characters as they are: they are escaped as well.
 */
export function printableJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, jsonValue, indent).replace(
    CONTROL_IN_LINES,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function jsonValue(_key: string, value: unknown): unknown {
  const isText =
    typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value));
  return isText ? String(value) : value;
}
